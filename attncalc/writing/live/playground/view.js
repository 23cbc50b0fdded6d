// The matrices as they flow: a column for each stage, cells that are edited in place, the entry pointed at, and the map.

import { connectionIn, ranksIn, rowIn, sentenceOf, valuesIn } from "../connections.js";
import { button, drawn, make, own, say, whereItIsSaid } from "../elements.js";
import { shownText, sidesOf } from "../equations/solve.js";
import { written } from "../expressions.js";
import { Refusal, readNumber } from "../numbers.js";
import { formulaIn } from "../settings.js";
import { tried } from "../trying.js";
import { readPasted } from "./pasted.js";
import { become, data, edit, namesOf, plan, redo, replaceMatrix, resize, sizesNow, solution, state, undo, work } from "./state.js";

const LARGE = 20, LONG = 30, LINE = 23, CAPTION = 40, GAP = 30, CHARACTER = 7.6;
export const flow = make("main", { class: "flow", id: "flow" });
const said = make("div", { class: "said", "aria-live": "polite" });
const picture = make("div", { class: "picture" });
export const dock = make("section", { class: "dock", "aria-label": "The entry pointed at" }, said, picture);
const sizes = make("section", { class: "sizes", "aria-label": "Sizes" });
export const below = [sizes, whereItIsSaid()];

let cells = new Map(), filled = new Map(), signature = "", at = null, pinned = false, lit = [], drawnMap = "";
/** What the player hides: the entries that are not computed yet; null shows all. */
let visible = null;
/** What is typed into results in practice: by name, the texts; null outside of practice. */
export let answers = null;

/** A name as it is read: W_Q with Q below. */
export function titled(name) {
  const [first, ...below_] = name.split("_");
  return below_.length ? [first, make("sub", {}, below_.join(","))] : [name];
}

// ---------------------------------------------------------------- the stages

/** The matrices of each column, from left to right. */
function stages() {
  const height = Math.max(260, innerHeight - 300), { shapes } = plan, levels = new Map(), columns = new Map();
  const tall = (name) => { const [r] = shapes[name].slice(-2), heads = shapes[name].length > 2 ? shapes[name][0] : 1; return heads * (r * LINE + 16) + CAPTION; };
  const put = (name, level) => {
    levels.set(name, level);
    columns.set(level, [...(columns.get(level) ?? []), name]);
  };
  const room = (level, name) => (columns.get(level) ?? []).reduce((all, each) => all + tall(each), tall(name)) <= height;
  const isWeight = (name) => state.given[name] && ["weights", "bias", "marks", ""].includes(state.given[name].role);
  const isMade = (name) => name in solution.steps && !state.given[name];
  for (const name of Object.keys(state.given)) if (!isWeight(name)) put(name, 0);
  for (const isPacked of [false, true]) {
    if (isPacked && wide(columns) <= innerWidth) break;
    if (isPacked) for (const [level, names] of [...columns]) if (level) { columns.delete(level); names.forEach((name) => levels.delete(name)); }
    for (const step of plan.steps) {
      const reads = Object.values(step.inputs).filter((name) => levels.has(name) && !isWeight(name));
      const deepest = Math.max(0, ...reads.map((name) => Math.ceil(levels.get(name))));
      const isSame = reads.some((name) => isMade(name) && levels.get(name) === deepest && String(shapes[name]) === String(shapes[step.name]));
      const stays = deepest > 0 && room(deepest, step.name) && (isSame && (isPacked || step.role !== "weights") || (isPacked && step.role === "outputs"));
      const level = stays ? deepest : deepest + 1;
      for (const name of Object.values(step.inputs)) if (isWeight(name) && !levels.has(name)) put(name, level - 0.5);
      if (!state.given[step.name]) put(step.name, level);
    }
  }
  for (const name of Object.keys(state.given)) if (!levels.has(name)) put(name, 0.5);
  return [...columns].sort(([a], [b]) => a - b).map(([, names]) => names);
}

function wide(columns) {
  return [...columns.values()].reduce((all, names) => all + GAP + Math.max(...names.map((name) => plan.shapes[name].at(-1) * (CHARACTER * longest(name) + 9) + 20)), 0);
}

function longest(name) {
  if (state.given[name]) return Math.max(2, ...state.given[name].entries.map((text) => text.length));
  return solution.steps[name].worked.digits.reduce((most, each) => Math.max(most, String(each).length + 1), state.settings.decimals + 2);
}

/** The names of rows, and of columns, of a matrix: those of its tokens, else their numbers. */
export function labelsOf(name) {
  const { axes, shapes } = plan, [r, c] = shapes[name].slice(-2);
  const tokens = Object.entries(state.given).filter(([, each]) => ["tokens", "projected"].includes(each.role)).map(([title]) => title);
  const along = (behind, count) => {
    const title = tokens.find((each) => axes.root(`${each}.2`) === axes.root(`${name}.${behind}`));
    return { of: title, names: title && namesOf(title).length === count ? namesOf(title) : Array.from({ length: count }, (_, k) => String(k + 1)) };
  };
  return { rows: along(2, r), columns: along(1, c) };
}

// ---------------------------------------------------------------- tables

export const cellOf = (name, k) => cells.get(name)?.[k];

/** An entry as it is shown. */
export function textOf(name, k) {
  if (state.given[name]) {
    const typed = state.given[name].entries[k];
    return typed === "-inf" ? "-∞" : written(work.own(readNumber(typed))).replace("-", "−");
  }
  return written(work.shown(name, k)).replace("-", "−") + (work.isHidden(name, k) ? "†" : "");
}

function table(name, h, heads) {
  const [r, c] = plan.shapes[name].slice(-2), { rows, columns } = labelsOf(name), isGiven = Boolean(state.given[name]);
  const isNamed = rows.of === name;
  const body = Array.from({ length: r }, (_, i) => make("tr", {},
    make("th", { scope: "row", class: rows.of ? "token" : "", ...(isNamed ? { tabindex: -1, "data-label": i, title: "Double-click to rename" } : {}) }, rows.names[i]),
    ...Array.from({ length: c }, (_cell, j) => {
      const k = (h * r + i) * c + j, cell = make("td", { "data-name": name, "data-k": k, tabindex: h + i + j ? -1 : 0 });
      cells.get(name)[k] = cell;
      return cell;
    })));
  const called = `${name}${heads > 1 ? `, head ${h + 1}` : ""}: ${r} by ${c}, ${isGiven ? "given" : own(solution.steps, name)?.worked.step.title ?? ""}`;
  const made = make("table", { "aria-label": called, class: isGiven ? "given" : "made" },
    make("thead", { class: columns.of ? "" : "vh" }, make("tr", {}, make("td", {}), ...columns.names.map((each) => make("th", { scope: "col" }, each)))),
    make("tbody", {}, ...body));
  if (c > LARGE) Object.assign(made.style, { tableLayout: "fixed", width: `${(c + 1) * 52}px` }); // laid out without reading every cell
  return made;
}

function figure(name) {
  cells.set(name, []);
  const shape = plan.shapes[name], heads = shape.length > 2 ? shape[0] : 1, step = own(solution.steps, name)?.worked.step;
  const formula = step && !state.given[name] ? formulaOf(step) : `${shape.at(-2)} × ${shape.at(-1)}`;
  return make("figure", { id: `m-${name}`, class: `${state.given[name] ? "given" : "made"}${shape.at(-2) > LARGE ? " large" : ""}` },
    make("figcaption", formula.length > LONG ? { class: "long", title: formula } : {}, make("b", {}, ...titled(name)), " ", make("small", {}, formula)),
    make("div", { class: "heads" }, ...Array.from({ length: heads }, (_, h) => table(name, h, heads))));
}

/** The equation of a step, with a chosen number in its place. */
export const formulaOf = (step) => formulaIn(step, state.settings);

/** Show the state: cells are kept where matrices have the same shapes. */
export function render() {
  const names = [...Object.keys(state.given), ...plan.steps.map((step) => step.name)];
  const mark = JSON.stringify([state.key, state.labels, names.map((name) => [name, plan.shapes[name]]), plan.steps.map(formulaOf), innerWidth, innerHeight, answers === null]);
  if (mark !== signature) {
    signature = mark;
    cells = new Map();
    filled = new Map();
    flow.replaceChildren(...stages().map((column) => make("div", { class: "stage" }, ...column.map(figure))));
    renderSizes();
  }
  for (const name of names) fill(name);
  drawnMap = "";
  if (at && !cellOf(at.name, at.k)) at = null;
  show(at ?? firstEntry());
}

const firstEntry = () => { const step = plan.steps.find((each) => each.role === "weights") ?? plan.steps[0]; return step && { name: step.name, k: 0 }; };

/** Write what changed into the cells of a matrix. */
function fill(name) {
  const count = plan.shapes[name].reduce((all, side) => all * side, 1), ranks = ranksOf(name), own_ = cells.get(name), isGiven = Boolean(state.given[name]);
  const digits = isGiven ? null : solution.steps[name].worked.digits, { decimals } = state.settings, before = filled.get(name);
  const isKept = digits && !visible && !answers && before?.decimals === decimals;
  const hidden = new Set();
  filled.set(name, visible || answers || isGiven ? null : { digits, decimals, hidden });
  for (let k = 0; k < count; k += 1) {
    const cell = own_[k];
    if (answers && !isGiven) { fillAnswer(cell, name, k); continue; }
    const isHidden = visible && !isGiven && !visible(name, k), worn = isHidden ? "" : ranks[k] ?? "";
    if (cell.dataset.rank !== worn) cell.dataset.rank = worn;
    if (digits?.[k] === 0 && work.isHidden(name, k)) hidden.add(k);
    if (isKept && before.digits[k] === digits[k] && before.hidden.has(k) === hidden.has(k)) continue;
    const text = isHidden ? "" : textOf(name, k);
    if (cell.textContent !== text) cell.textContent = text;
    if (cell.className && cell.className !== "lit" && cell.className !== "at") cell.className = "";
  }
}

function ranksOf(name) {
  if (own(solution.steps, name)?.worked.step.role !== "weights") return [];
  return ranksIn(sidesOf(solution.carried[name]), (h, i) => connectionOf(name, h, i));
}

const fromRow = (name, all, h, i) => rowIn(sidesOf(solution.carried[name]), all, h, i);

/** The inputs that an output attends to. */
export const connectionOf = (name, h, i) =>
  connectionIn(fromRow(name, valuesIn(solution.steps[name].matrix), h, i), fromRow(name, solution.steps[name].worked.digits, h, i).map(BigInt));

/** Show only the entries that a test accepts; null shows all. */
export function showOnly(test) {
  visible = test;
  for (const step of plan.steps) if (!state.given[step.name]) fill(step.name);
  drawnMap = "";
}

// ---------------------------------------------------------------- practice

/** Take answers into the cells of results, or show results again. */
export function practise(texts) {
  answers = texts;
  signature = "";
  render();
}

function fillAnswer(cell, name, k) {
  const input = cell.querySelector("input") ?? cell.appendChild(make("input", {
    type: "text", autocomplete: "off", "aria-label": placeSaid(name, k),
    oninput: (event) => { (answers[name] ??= [])[k] = event.target.value; cell.className = ""; cell.title = ""; },
  }));
  const text = own(answers, name)?.[k] ?? "";
  if (input.value !== text) input.value = text;
}

export const placeSaid = (name, k) => written(work.entry(name, k));

// ---------------------------------------------------------------- sizes

function renderSizes() {
  const steps = sizesNow().map(({ axis, size, said: title }) => {
    const by = (change) => tried(() => resize(axis, size + change));
    const less = button("−", () => by(-1)), more = button("+", () => by(1));
    less.setAttribute("aria-label", `Remove one of ${title}`);
    more.setAttribute("aria-label", `Add one of ${title}`);
    return make("span", { class: "stepper" }, less, make("span", {}, `${size} ${title}`), more);
  });
  sizes.replaceChildren(...steps);
}

// ---------------------------------------------------------------- the entry pointed at

/** Show the work of an entry, and light what it is computed from where it is. */
export function show(entry, { forms = null } = {}) {
  if (!entry) return;
  at = entry;
  for (const cell of lit) cell.classList.remove("lit", "at");
  const { name, k } = entry, cell = cellOf(name, k), isGiven = Boolean(state.given[name]);
  if (!isGiven) work.line(name, k); // what it reads is then known, and only that is listed
  const reads = isGiven ? [] : work.readFor(name, k);
  lit = (answers ? [] : reads).map((read) => cellOf(read.name, read.k)).filter(Boolean);
  for (const each of lit) each.classList.add("lit");
  cell?.classList.add("at");
  if (cell) lit.push(cell);
  const hides = answers && !isGiven;
  said.replaceChildren(...(isGiven ? givenSaid(entry) : hides ? [make("p", {}, placeSaid(name, k))] : madeSaid(entry, reads, forms)));
  renderPicture(entry);
}

function givenSaid({ name, k }) {
  const readers = plan.steps.filter((step) => Object.values(step.inputs).includes(name)).map((step) => step.name);
  return [make("h2", {}, placeSaid(name, k), " = ", textOf(name, k)),
    make("p", {}, `Given. Type a number to change it, or paste a matrix.${readers.length ? ` ${readers.join(", ")} ${readers.length === 1 ? "reads" : "read"} ${name}.` : ""}`)];
}

/** The line of an entry, one form below the other; `forms` limits how many are shown. */
function madeSaid({ name, k }, reads, forms) {
  const { step } = solution.steps[name].worked, line = work.line(name, k), parts = line.forms.map((form) => `= ${written(form)}`);
  const result = `${line.isExact ? "=" : "≈"} ${written(line.result)}${line.hidden ? `†  († not zero: ${written(line.hidden)})` : ""}`;
  const all = [...parts, result].slice(0, forms ?? Infinity);
  return [make("h2", {}, placeSaid(name, k), make("small", {}, ` ${step.title}:  ${formulaOf(step)}`)),
    ...meeting(name, k, reads, forms),
    ...all.map((text, n) => make("p", { class: n === parts.length ? "line result" : "line" }, text.replaceAll("-", "−"))),
    ...(line.remark ? [make("p", { class: "remark" }, line.remark)] : [])];
}

/** A row and a column that meet: their entries, products and sum. */
function meeting(name, k, reads, forms) {
  const groups = Object.values(Object.groupBy(reads, (read) => read.name)), first = work.line(name, k).forms[0];
  if (groups.length !== 2 || groups[0].length !== groups[1].length || groups[0].length < 2 || first?.is !== "sum" || first.terms.length !== groups[0].length) return [];
  if (groups[0].length > 16) return [];
  const row = (group) => make("tr", {}, make("th", { scope: "row" }, placeSaid(group[0].name, group[0].k), " …"), ...group.map((read) => make("td", {}, textOf(read.name, read.k))));
  const products = make("tr", { class: "products" }, make("th", { scope: "row" }, "product"), ...first.terms.map((term) =>
    make("td", {}, forms !== null && forms < 1 ? "" : term.exact && term.exact.d < 1000n ? written(work.own(term.exact)).replace("-", "−") : written(term).replaceAll("-", "−"))));
  return [make("table", { class: "meeting" }, make("tbody", {}, ...groups.map(row), products))];
}

// ---------------------------------------------------------------- pictures

/** The attention that an entry belongs to, and its head. */
function weightsNear({ name, k }) {
  const all = plan.steps.filter((step) => step.role === "weights").map((step) => step.name);
  const before = plan.steps.findIndex((step) => step.name === name);
  const near = all.find((each) => each === name) ?? all.find((each) => plan.steps.findIndex((step) => step.name === each) >= before) ?? all.at(-1);
  if (!near) return null;
  const [h, r, c] = sidesOf(solution.carried[near]), own_ = plan.shapes[name];
  return { name: near, h: h && own_.length > 2 ? Math.min(h - 1, Math.floor(k / (own_.at(-1) * own_.at(-2)))) : 0, row: near === name ? Math.floor(k / c) % r : null };
}

function renderPicture(entry) {
  const near = weightsNear(entry), mark = near && JSON.stringify(near);
  if (mark === drawnMap) return;
  drawnMap = mark;
  if (!near || answers) return void picture.replaceChildren();
  picture.replaceChildren(...(near.row === null ? [] : [bars(near)]), mapOf(near.name, near.h, near.row));
}

/** A row of weights as bars. */
function bars({ name, h, row }) {
  const values = fromRow(name, valuesIn(solution.steps[name].matrix), h, row), digits = fromRow(name, solution.steps[name].worked.digits, h, row), { columns, rows } = labelsOf(name);
  const shown = values.map((_, j) => !visible || visible(name, (h * rows.names.length + row) * values.length + j));
  return make("div", { class: "bars", role: "img", "aria-label": `Weights of output ${rows.names[row]}` }, make("p", {}, `${name}, row ${rows.names[row]}`), ...values.slice(0, 12).map((value, j) =>
    make("div", {}, make("span", {}, columns.names[j]), drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, drawn("rect", { width: shown[j] ? Math.max(0, Math.min(100, value * 100)).toFixed(2) : 0, height: 10 })),
      make("span", {}, shown[j] ? shownText(digits[j], state.settings.decimals) : ""))));
}

/** The map of an attention: inputs on the left, outputs on the right; solid lines to the largest weight, dashed to the second. */
export function mapOf(name, h = 0, only = null) {
  const [heads, r, c] = sidesOf(solution.carried[name]), { rows, columns } = labelsOf(name), step = Math.max(16, Math.min(34, 150 / Math.max(r, c)));
  const height = Math.max(r, c) * step + 26, X = 90, Y = 230, y = (k, count) => 26 + (k + 0.5) * step + ((Math.max(r, c) - count) * step) / 2;
  const lines = [], texts = [], told = [];
  const cut = (text) => ([...text].length > 11 ? `${[...text].slice(0, 10).join("")}…` : text);
  for (let i = 0; i < r; i += 1) {
    if (visible && !visible(name, (h * r + i) * c + c - 1)) continue;
    const found = connectionOf(name, h, i);
    told.push(sentenceOf(rows.names[i], columns.names, found, state.settings.decimals, data.look));
    for (const rank of ["second", "most"]) for (const j of found[rank]) {
      const share = Math.min(1, Math.abs(found.full[j])), near = 0.3 + (rank === "second" ? 0.16 : 0);
      lines.push(drawn("line", { x1: X, y1: y(j, c), x2: Y, y2: y(i, r), class: `${rank}${only !== null && only !== i ? " faint" : ""}`, "stroke-width": (1 + 3 * share).toFixed(1), ...(rank === "second" ? { "stroke-dasharray": "6 4" } : {}) }));
      if (Math.max(r, c) <= 8) texts.push(drawn("text", { x: Y + (X - Y) * near, y: y(i, r) + (y(j, c) - y(i, r)) * near - 3, class: `weight${only !== null && only !== i ? " faint" : ""}`, "text-anchor": "middle" }, shownText(found.shown[j], state.settings.decimals)));
    }
  }
  const dots = (names, count, x, anchor, by) => names.flatMap((each, k) => [drawn("circle", { cx: x, cy: y(k, count), r: 4 }), drawn("text", { x: x + by, y: y(k, count) + 4, "text-anchor": anchor }, cut(each))]);
  return drawn("svg", { class: "map", viewBox: `0 0 320 ${height}`, role: "img", "aria-label": `Map of ${name}${heads > 1 ? `, head ${h + 1}` : ""}. ${told.join(". ")}`, xmlns: "http://www.w3.org/2000/svg" },
    drawn("text", { x: X, y: 14, "text-anchor": "middle", class: "side" }, "inputs"), drawn("text", { x: Y, y: 14, "text-anchor": "middle", class: "side" }, "outputs"),
    drawn("text", { x: 160, y: 14, "text-anchor": "middle", class: "side" }, `${name}${heads > 1 ? `, head ${h + 1}` : ""}`),
    ...lines, ...texts, ...dots(columns.names, c, X, "end", -9), ...dots(rows.names, r, Y, "start", 9));
}

// ---------------------------------------------------------------- typing

const entryOf = (cell) => ({ name: cell.dataset.name, k: Number(cell.dataset.k) });
const cellAt = (target) => target?.closest?.("td[data-k]");

/** Edit a given entry in its cell. */
function type(cell, first = null) {
  const { name, k } = entryOf(cell);
  if (!state.given[name] || cell.querySelector("input")) return;
  const before = state.given[name].entries[k], input = make("input", { type: "text", value: first ?? before, "aria-label": placeSaid(name, k), autocomplete: "off", autocapitalize: "off" });
  let isDone = false;
  const end = (isKept, [down, across] = [0, 0]) => {
    if (isDone) return;
    isDone = true;
    const text = input.value, isFocused = document.activeElement === input;
    cell.textContent = textOf(name, k);
    if (isKept && text.trim() !== before) tried(() => edit(name, { [k]: text }), (why) => say(`${placeSaid(name, k)}: Not changed: ${why}.`));
    if (isFocused) go(name, k, down, across);
  };
  input.addEventListener("keydown", (event) => {
    const move = { Enter: [event.shiftKey ? -1 : 1, 0], Tab: [0, event.shiftKey ? -1 : 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    event.stopPropagation();
    if (event.key === "Escape") end(false);
    else if (move) { event.preventDefault(); end(true, move); }
  });
  input.addEventListener("blur", () => end(true));
  input.addEventListener("paste", (event) => { const text = event.clipboardData?.getData("text") ?? ""; if (/[\n\t;&]/.test(text.trim())) { event.preventDefault(); event.stopPropagation(); end(false); paste(name, text); } });
  cell.replaceChildren(input);
  input.focus();
  if (first === null) input.select();
}

/** Rename a token in its place. */
function rename(head) {
  const name = head.closest("figure").id.slice(2), i = Number(head.dataset.label), names = namesOf(name), before = names[i];
  const input = make("input", { type: "text", value: own(state.labels, name)?.[i] ?? "", "aria-label": `Name of token ${i + 1}`, maxlength: 40 });
  let isDone = false;
  const end = (isKept) => {
    if (isDone) return;
    isDone = true;
    const text = input.value.trim(), all = names.map((_, k) => own(state.labels, name)?.[k] ?? "");
    head.replaceChildren(before);
    all[i] = text === String(i + 1) ? "" : text;
    if (isKept) tried(() => become({ ...state, labels: { ...state.labels, [name]: all } }));
    flow.querySelector(`#m-${CSS.escape(name)} th[data-label="${i}"]`)?.focus();
  };
  input.addEventListener("keydown", (event) => { event.stopPropagation(); if (event.key === "Enter") end(true); else if (event.key === "Escape") end(false); });
  input.addEventListener("blur", () => end(true));
  head.replaceChildren(input);
  input.select();
}

/** Go to a cell beside another. */
function go(name, k, down, across) {
  const [r, c] = plan.shapes[name].slice(-2), h = Math.floor(k / (r * c)), i = Math.floor(k / c) % r + down, j = (k % c) + across;
  const there = cellOf(name, (h * r + Math.min(Math.max(i, 0), r - 1)) * c + Math.min(Math.max(j, 0), c - 1));
  (there?.querySelector("input") ?? there)?.focus();
}

/** A pasted text: one matrix for this place, several named ones, or a whole problem. */
function paste(name, text) {
  tried(() => {
    const { file, matrices } = readPasted(text);
    if (file) return void become(file());
    const named = Object.entries(matrices).filter(([title]) => own(state.given, title));
    if (named.length) for (const [title, rows] of named) replaceMatrix(title, rows);
    else if (name && own(state.given, name) && matrices[""]) replaceMatrix(name, matrices[""]);
    else throw new Refusal("select a given matrix first, or paste names with them, such as X = [[1, 0], [0, 1]]");
    say("Pasted.");
  });
}

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function onKey(event) {
  const cell = cellAt(event.target), head = event.target.closest?.("th[data-label]");
  if ((event.ctrlKey || event.metaKey) && !event.target.matches?.("input, textarea")) {
    const act = { z: event.shiftKey ? redo : undo, Z: redo, y: redo }[event.key];
    if (act) { event.preventDefault(); tried(act); }
    return;
  }
  if (head && event.key === "Enter") { event.preventDefault(); rename(head); return; }
  if (!cell || event.altKey) return;
  const { name, k } = entryOf(cell), move = own(MOVES, event.key), isAnswer = event.target.matches("input");
  if (move && !(isAnswer && move[1])) { event.preventDefault(); go(name, k, ...move); }
  else if (isAnswer) { if (event.key === "Enter") go(name, k, 1, 0); }
  else if (event.key === "Enter" || event.key === "F2") { event.preventDefault(); type(cell); }
  else if (event.key === "Home" || event.key === "End") { event.preventDefault(); go(name, k, 0, event.key === "Home" ? -999 : 999); }
  else if (/^[-−0-9.,/]$/.test(event.key)) { event.preventDefault(); type(cell, event.key); }
  else if (event.key === "Escape") pinned = false;
}

/** Have the page respond to the mouse, keys, pasted and dropped texts. */
export function startView() {
  flow.addEventListener("pointerover", (event) => { const cell = cellAt(event.target); if (cell && !pinned && event.pointerType !== "touch") show(entryOf(cell)); });
  flow.addEventListener("focusin", (event) => { const cell = cellAt(event.target); if (cell && !pinned) show(entryOf(cell)); });
  flow.addEventListener("click", (event) => {
    const cell = cellAt(event.target);
    if (!cell || answers) return;
    const entry = entryOf(cell), isGiven = Boolean(state.given[entry.name]);
    pinned = !isGiven && !(pinned && at.name === entry.name && at.k === entry.k);
    if (!cell.querySelector("input")) cell.focus({ preventScroll: true });
    show(entry);
    if (isGiven) type(cell);
  });
  flow.addEventListener("dblclick", (event) => { const head = event.target.closest("th[data-label]"); if (head) rename(head); });
  document.addEventListener("keydown", onKey);
  document.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (event.target.matches?.("input, textarea") || !text.trim()) return;
    event.preventDefault();
    paste(cellAt(event.target)?.dataset.name ?? at?.name, text);
  });
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0], name = cellAt(event.target)?.dataset.name ?? at?.name;
    if (!file) return;
    if (file.size > 1_000_000) say(`${file.name} is larger than 1 MB.`);
    else file.text().then((text) => paste(name, text));
  });
  let waits = 0;
  window.addEventListener("resize", () => { clearTimeout(waits); waits = setTimeout(render, 100); });
}

