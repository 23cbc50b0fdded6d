// The boxes of a worksheet to fill in: kept in this browser, downloaded for attncalc check, printed.

import { all, button, byId, ENTRY, main, make, own, save, say, whereItIsSaid } from "./elements.js";
import { withPoint } from "./decimals.js";
import { recalled, stored } from "./storing.js";
import { Words } from "./said.js";

const WALK = { ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [1, 0] };
const BLANK = "_____";
const ON_MAP = "On the map, write the name of each line's input, or several with commas, and nothing where there is no line; only attncalc check marks the map.";
const KEEPS_NOTHING = "This browser cannot save your answers: download them before you leave.";

export const data = JSON.parse(byId("problem").textContent);
const words = new Words(data);
export const said = (text) => words.say(text);
/** Text with the decimal sign of the language. */
export const inNumbers = (text) => words.number(text);
/** The boxes by their inputs: each has its place, from 0, as the page shows it. */
export const boxes = new Map();
export const hinted = new Map(); // the highest level of the hints on each step
const place = `attncalc practice ${hashOf(main.textContent)}`;
const changes = [], stacks = new Set(); // what a change does besides; the steps with heads
const lines = []; // of the map: for each output of a head its boxes, for the solid and the dashed line

/** A number that identifies a problem: stored answers belong to one. */
function hashOf(text) {
  let hash = 0n;
  for (const letter of text) hash = (hash * 131n + BigInt(letter.codePointAt(0))) % (1n << 61n);
  return hash.toString(36);
}

function fillWithBoxes(table) {
  const name = table.dataset.step, head = Number(table.dataset.head ?? 0);
  if (head) stacks.add(name);
  for (const cell of all(ENTRY, table)) {
    const [row, column] = [cell.dataset.row - 1, cell.dataset.column - 1];
    const where = said(head ? `head ${head}, row ${row + 1}, column ${column + 1}` : `row ${row + 1}, column ${column + 1}`);
    const input = make("input", { type: "text", size: 6, autocomplete: "off", "aria-label": `${name}, ${where}`, oninput: changed });
    cell.replaceChildren(input);
    boxes.set(input, { name, head: Math.max(head - 1, 0), row, column, input, cell, where });
  }
}

function fillMap(list) {
  const { weights, head = 0 } = list.dataset;
  for (const [k, item] of [...list.children].entries()) {
    const [before, between, after] = item.textContent.split(BLANK);
    const labels = [before.trim(), `${before}…${between}`.trim()]; // each ends with the kind of its line
    const [solid, dashed] = labels.map((label) => make("input", { type: "text", autocomplete: "off", "aria-label": label, oninput: changed }));
    item.replaceChildren(before, solid, between, dashed, after);
    lines.push({ weights, head: Math.max(head - 1, 0), output: String(k + 1), inputs: [solid, dashed] });
  }
}

/** Enter and the arrow keys move between boxes. */
export function walk(event) {
  const move = own(WALK, event.key);
  if (!move) return;
  const { cell } = boxes.get(event.target);
  event.preventDefault();
  cell.closest("table").querySelector(
    `td[data-row="${Number(cell.dataset.row) + move[0]}"][data-column="${cell.dataset.column}"] input`)?.focus();
}

/** What is typed: the texts of each step, by heads, rows and columns as shown. */
function texts() {
  const found = {};
  for (const { name, head, row, column, input } of boxes.values()) (((found[name] ??= [])[head] ??= [])[row] ??= [])[column] = input.value;
  return found;
}

/** The typed lines of the map, by its weights and heads; undefined if there are none. */
function map() {
  const found = {}, named = ({ value }) => value.split(/[,\uff0c\u3001]/).map((name) => name.trim()).filter(Boolean);
  for (const { weights, head, output, inputs } of lines) {
    const [most, second] = inputs.map(named);
    ((found[weights] ??= [])[head] ??= []).push({ output, most, second });
  }
  const maps = Object.entries(found).map(([name, heads]) => [name, heads.length > 1 ? heads : heads[0]]);
  if (!lines.some(({ inputs }) => inputs.some(({ value }) => value.trim()))) return undefined;
  return maps.length > 1 ? Object.fromEntries(maps) : maps[0][1];
}

const onMap = () => lines.flatMap(({ inputs }) => inputs);

export const keep = () => stored(place, { ...texts(), hints: Object.fromEntries(hinted), connections: onMap().map(({ value }) => value) });

function recall() {
  const kept = recalled(place);
  for (const { name, head, row, column, input } of boxes.values()) {
    const text = own(kept ?? {}, name)?.[head]?.[row]?.[column];
    if (typeof text === "string") input.value = text;
  }
  for (const [k, input] of onMap().entries()) input.value = kept?.connections?.[k] ?? "";
  for (const [name, level] of Object.entries(kept?.hints ?? {})) hinted.set(name, level);
  return kept !== null;
}

function changed({ target }) {
  if (boxes.has(target)) for (const act of changes) act(boxes.get(target));
  say(said(keep() ? "Saved in this browser." : KEEPS_NOTHING));
}

/** The answers as attncalc check reads them: blanks are null. */
function answers() {
  const { title, student, code } = data.problem;
  const found = code ? { problem: { title, student, code } } : {};
  if (hinted.size) found.problem = { ...found.problem, hints: Object.fromEntries(hinted) };
  for (const [name, heads] of Object.entries(texts())) {
    if (!heads.flat(2).some((text) => text.trim())) continue;
    const typed = heads.map((rows) => rows.map((row) => row.map((text) => withPoint(text) || null)));
    found[name] = stacks.has(name) ? typed : typed[0];
  }
  return `${JSON.stringify({ ...found, connections: map() }, null, 1)}\n`;
}

function download() {
  save(answers(), data.file);
  say(said(`${data.file} is in your downloads. Mark it with: attncalc check problem.json ${data.file}`));
}

function clear() {
  for (const box of boxes.values()) {
    box.input.value = "";
    for (const act of changes) act(box);
  }
  for (const input of onMap()) input.value = "";
  keep();
  say(said("Cleared."));
}

/** Make boxes, the buttons of a page before those that every worksheet has, and its instruction. */
export function open(buttons, instruction, onChange = null) {
  if (onChange) changes.push(onChange);
  for (const room of all(".room")) room.hidden = true; // there are boxes
  all("table[data-step]").forEach(fillWithBoxes);
  all(".connections ul").forEach(fillMap);
  main.before(make("div", { class: "live", role: "region", "aria-label": said("Practice") },
    make("div", { class: "buttons" }, ...buttons, button(said("Download my answers"), download),
      button(said("Print"), () => window.print()), button(said("Clear"), clear)),
    whereItIsSaid(),
    make("p", {}, [...instruction, ...(lines.length ? [ON_MAP] : [])].map(said).join(" "))));
  say(recall() ? "" : said(KEEPS_NOTHING));
}
