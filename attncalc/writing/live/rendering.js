// What the page shows of the problem as it now is: as it was written, or written again.

import { connection, notesOf } from "./attended.js";
import { cellsOf, forgetCells, givenCell } from "./cells.js";
import { ranksIn } from "./connections.js";
import { byColumns, data, isBase, planNow, state, stepsNow } from "./edited.js";
import { all, byId, main, make } from "./elements.js";
import { written } from "./expressions.js";
import { readNumber } from "./numbers.js";
import { renderConnections } from "./pictures.js";
import { shapeOf, solution, solve, work, workedOf } from "./solved.js";

const WORN = ["lit", "at", "pinned", "not-shown"];
let untouched = null, lastPlan = planNow();
let rendered = {}; // the shown digits of each step, so that equal ones are not written again
let arrange = () => {};
/** Replace sections and equations by those of the steps; a callback gets whether they changed. */
export const arrangeBy = (act) => void (arrange = act);
let changed = new Map(); // cells of edited entries, with their current and original texts

/** Show the current problem; return whether the page is unchanged. */
export function render() {
  solve(); // refused, nothing on the page has changed
  const at = main.contains(document.activeElement) ? document.activeElement.closest("[id]").id : null;
  const plan = planNow();
  const isBack = untouched !== null && (isBase() || plan !== lastPlan);
  if (isBack) restore();
  if (!isBase()) {
    keep();
    const steps = stepsNow();
    arrange(steps, plan !== lastPlan);
    const fresh = steps.filter((step) => rendered[step.name]?.matrix !== solution.steps[step.name].matrix);
    for (const step of fresh) renderStep(step);
    renderGiven();
    for (const step of fresh) if (step.role === "weights") renderConnections(step.name);
    renderSentences(plan);
  }
  lastPlan = plan;
  if (at) focusAgain(at);
  return !isBack;
}

/** Have the focus where it was, or where there is still something to go to. */
function focusAgain(id) {
  const there = byId(id), place = there?.getClientRects().length ? there : main;
  if (place === there && there.contains(document.activeElement)) return;
  const cell = place.matches("td") ? place : place.querySelector("td[tabindex]");
  if (cell.tabIndex < 0) cell.tabIndex = -1;
  cell.focus({ preventScroll: true });
}

/** Keep the page as it was written, before it is changed. */
export function keep() {
  if (untouched) return untouched;
  untouched = main.cloneNode(true);
  for (const name of WORN) for (const worn of untouched.querySelectorAll(`.${name}`)) worn.classList.remove(name);
  return untouched;
}

/** Bring back the page as it was written. */
function restore() {
  main.replaceChildren(...untouched.childNodes);
  untouched = null;
  rendered = {};
  changed = new Map();
  forgetCells();
}

// ---------------------------------------------------------------- steps

/** Put a number into a cell, where it is not there yet. */
function put(cell, text, rank) {
  const inner = { most: "strong", second: "em" }[rank];
  if (cell.textContent === text && (!rank || cell.classList.contains(rank)) && Boolean(inner) === Boolean(cell.firstElementChild)) return;
  cell.classList.remove("most", "second");
  if (inner) cell.classList.add(rank);
  cell.replaceChildren(inner ? make(inner, {}, text) : text);
}

function renderStep(step) {
  const { name } = step, { matrix } = solution.steps[name], { digits } = workedOf(name), { decimals } = solution.rules;
  const ranks = step.role === "weights" ? ranksIn(shapeOf(name), (h, i) => connection(name, h, i)) : null;
  const cells = cellsOf(name), hidden = [], before = rendered[name];
  rendered[name] = { matrix, digits, decimals, ranks };
  digits.forEach((whole, k) => {
    const rank = ranks?.[k] ?? "";
    const isAsBefore = !data.fractions && before?.decimals === decimals && before.digits[k] === whole && (before.ranks?.[k] ?? "") === rank;
    if (isAsBefore && whole) return;
    const isHidden = work.isHidden(name, k);
    if (isHidden) hidden.push(k);
    if (cells[k]) put(cells[k], written(work.shown(name, k)) + (isHidden ? "†" : ""), rank);
  });
  const section = byId(`step-${name}`);
  if (!section) return;
  renderWork(section, step);
  for (const remark of section.querySelectorAll("p.remark")) remark.remove();
  const remarks = [...footnotes(step, hidden), ...notesOf(step, ranks)].map((text) => make("p", { class: "remark" }, text));
  const details = section.querySelector("details");
  if (details) details.before(...remarks);
  else section.append(...remarks);
}

/** Row by row as the page shows them. */
function inOrder(one, other) {
  const at = one.place.findIndex((index, side) => index !== other.place[side]);
  return one.place[at] - other.place[at];
}

function footnotes({ name }, hidden) {
  if (!hidden.length) return [];
  const most = data.look.footnotes, entries = hidden.map((k) => ({ k, ...work.entry(name, k) })).sort(inOrder);
  const said = entries.slice(0, most).map((entry) => `${written(entry)} ${written(work.hidden(name, entry.k))}`);
  if (hidden.length > most) said.push(`${hidden.length - most} more`);
  return [`† not zero: ${said.join(" · ")}`];
}

/** Lines of work are written again as they are opened. */
function renderWork(section, step) {
  const details = section.querySelector("details.work");
  if (!details) return;
  const lines = all("p[data-of]", details);
  for (const line of lines) line.replaceChildren("…");
  const fill = () => {
    if (!details.open || !details.isConnected) return;
    for (const line of lines) line.replaceChildren(work.text(step.name, placeNamed(step.name, line.dataset.of)));
  };
  details.ontoggle = fill;
  if (details.open) setTimeout(fill, 0);
}

/** Where an entry is, counted row by row, by its name: S[1,2], or S[1,1,2] of a head. */
function placeNamed(step, name) {
  const places = name.slice(name.indexOf("[") + 1, -1).split(",").map((n) => Number(n) - 1), [, r, c] = shapeOf(step);
  const [row, column] = byColumns ? places.slice(-2).reverse() : places.slice(-2);
  return ((places.length === 3 ? places[0] : 0) * r + row) * c + column;
}

// ---------------------------------------------------------------- given matrices, and sentences

function renderGiven() {
  const now = new Map();
  for (const [name, edits] of Object.entries(state.edits))
    for (const [flat, typed] of Object.entries(edits)) {
      const cell = givenCell(name, flat);
      if (cell) now.set(cell, { typed, before: changed.get(cell)?.before ?? [...cell.childNodes] });
    }
  for (const [cell, { before }] of changed) {
    if (now.has(cell)) continue;
    cell.classList.remove("changed");
    cell.removeAttribute("title");
    cell.replaceChildren(...before);
  }
  for (const [cell, { typed, before }] of now) {
    if (changed.get(cell)?.typed === typed) continue;
    cell.classList.add("changed");
    cell.title = `was ${before.map((node) => node.textContent).join("")}`;
    cell.replaceChildren(typed === "-inf" ? "-∞" : written(work.own(readNumber(typed))));
  }
  changed = now;
}

/** The current conventions, without notes on the original problem. */
function renderSentences(plan) {
  const { scale, softcap, decimals, rounding } = state.settings;
  const said = plan.conventions[rounding].map((place) => {
    const text = data.texts[place];
    if (text.startsWith("scores multiplied by ")) return `scores multiplied by ${scale}`;
    if (text.startsWith("scores capped at ")) return `scores capped at ${softcap} by tanh`;
    if (text.startsWith("shown to ")) return `shown to ${decimals} decimal${decimals === 1 ? "" : "s"}, halves away from zero`;
    return text;
  });
  replaceList(byId("conventions"), said);
  for (const list of all("section.notes > ul, section.patterns > ul"))
    replaceList(list, ["hidden after a change: they describe the numbers as given"]);
}

function replaceList(list, texts) {
  if (list && texts.join("\n") !== [...list.children].map((each) => each.textContent).join("\n"))
    list.replaceChildren(...texts.map((text) => make("li", {}, text)));
}
