// A worksheet to fill in on the page: the script computes the key, and the page does not contain it.

import { all, button, byId, ENTRY, main, make, own, save, say, whereItIsSaid } from "./elements.js";
import { mark, withPoint } from "./equations/marks.js";
import { shownText, sidesOf, solve } from "./equations/solve.js";
import { Work } from "./equations/work.js";
import { written } from "./expressions.js";

const SAID = {
  correct: "right",
  rounding: "right except for rounding: another way of rounding gives it",
  follows: "correct given your earlier values",
  "matches-key": "equal to the key, but does not follow from your earlier values",
  precision: "right, with fewer decimals than asked for",
  wrong: "wrong: neither the key nor your earlier values give it; attncalc check explains the mistake",
  undecided: "cannot be decided here: use attncalc check",
  unreadable: "not a number: write 0.5, 1/2 or 1e3, for example",
};
const SIGNS = { correct: "✓", rounding: "≈", follows: "→", "matches-key": "=", precision: "…", wrong: "≠", undecided: "~", unreadable: "?" };
const WALK = { ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [1, 0] };

const data = JSON.parse(byId("problem").textContent);
const byColumns = data.settings.layout === "columns";
const solution = solve(data), work = new Work(solution, data.fractions);
const boxes = new Map();
const place = `attncalc practice ${hashOf(JSON.stringify(data.problem))}`;
const hinted = new Map(); // the highest level of the hints on each step
let last = null;

/** A number that identifies a problem: stored answers belong to one. */
function hashOf(text) {
  let hash = 0n;
  for (const letter of text) hash = (hash * 131n + BigInt(letter.codePointAt(0))) % (1n << 61n);
  return hash.toString(36);
}

// ---------------------------------------------------------------- the boxes

function fillWithBoxes(table) {
  const name = table.dataset.step;
  if (!own(solution.steps, name) || own(data.given, name)) return; // given matrices are not answers
  const h = Number(table.dataset.head ?? 1) - 1, [heads, r, c] = sidesOf(solution.carried[name]);
  for (const cell of all(ENTRY, table)) {
    const [row, column] = [cell.dataset.row - 1, cell.dataset.column - 1];
    const [i, j] = byColumns ? [column, row] : [row, column];
    const said = `${name}${heads ? `, head ${h + 1}` : ""}, row ${row + 1}, column ${column + 1}`;
    const input = make("input", { type: "text", size: 6, autocomplete: "off", "aria-label": said, oninput: changed, onfocus: () => at(box), onkeydown: walk });
    const sign = make("span", { class: "sign" });
    const box = { name, k: (h * r + i) * c + j, input, sign, cell, said };
    cell.replaceChildren(input, sign);
    boxes.set(input, box);
  }
}

function walk(event) {
  const asked = event.key === "Enter" && (event.shiftKey ? () => hint(3) : event.ctrlKey || event.metaKey ? show : null);
  if (asked) {
    event.preventDefault();
    return void asked();
  }
  const move = own(WALK, event.key);
  if (!move) return undefined;
  const { cell } = boxes.get(event.target);
  event.preventDefault();
  cell.closest("table").querySelector(
    `td[data-row="${Number(cell.dataset.row) + move[0]}"][data-column="${cell.dataset.column}"] input`)?.focus();
  return undefined;
}

function at(box) {
  last = box;
  line.textContent = box.said;
  aside.hidden = false;
}

function texts() {
  const found = {};
  for (const { name, k, input } of boxes.values()) (found[name] ??= [])[k] = input.value;
  return found;
}

// ---------------------------------------------------------------- kept in this browser

const KEEPS_NOTHING = "This browser cannot save your answers: download them before you leave.";

function keep() {
  try {
    window.localStorage.setItem(place, JSON.stringify({ ...texts(), hints: Object.fromEntries(hinted) }));
    return true;
  } catch {
    return false;
  }
}

function recall() {
  try {
    const kept = JSON.parse(window.localStorage.getItem(place) ?? "{}");
    for (const box of boxes.values()) {
      const text = own(kept, box.name)?.[box.k];
      if (typeof text === "string") box.input.value = text;
    }
    for (const [name, level] of Object.entries(own(kept, "hints") ?? {})) hinted.set(name, level);
    return true;
  } catch {
    return false;
  }
}

function changed(event) {
  unmark(boxes.get(event.target));
  say(keep() ? "Saved in this browser." : KEEPS_NOTHING);
}

function unmark(box) {
  box.sign.textContent = "";
  box.sign.removeAttribute("title");
  box.input.removeAttribute("aria-description");
  box.cell.removeAttribute("data-status");
}

// ---------------------------------------------------------------- questions

function check() {
  const statuses = mark(solution, texts());
  const counts = {};
  for (const box of boxes.values()) {
    const status = statuses[box.name][box.k];
    unmark(box);
    counts[status] = (counts[status] ?? 0) + 1;
    if (status === "blank") continue;
    box.sign.textContent = SIGNS[status];
    box.sign.title = SAID[status];
    box.input.setAttribute("aria-description", SAID[status]);
    box.cell.dataset.status = status;
  }
  const told = Object.entries({ ...SAID, blank: "blank" }).filter(([status]) => counts[status])
    .map(([status, said]) => `${counts[status]} ${SIGNS[status] ? `${SIGNS[status]} ` : ""}${said}`);
  say(`${told.join("; ")}.`);
}

/** A fraction, as check reads it: a mixed number it does not. */
const typed = ({ n, d }) => (d === 1n ? String(n) : `${n}/${d}`);

/** Where to look; the rule; or the line without its result, nor any number that the result is. */
function hint(level) {
  const entry = (level > 1 && last) || firstNotRight();
  if (!entry) return say("Everything is right.");
  hinted.set(entry.name, Math.max(level, hinted.get(entry.name) ?? 0));
  keep();
  if (level === 1) entry.input.focus();
  at(entry);
  line.textContent = [`Look at ${entry.said}.`, ruleOf(entry.name), lineOf(entry)][level - 1];
  return null;
}

function lineOf({ name, k }) {
  const { entry, forms, remark } = work.line(name, k);
  const said = forms.map((form) => ` = ${written(form)}`).join("");
  return `${written(entry)}${said} = ?${remark ? `   (${remark})` : ""}`;
}

function firstNotRight() {
  const statuses = mark(solution, texts());
  return [...boxes.values()].find(({ name, k }) => !["correct", "rounding", "follows"].includes(statuses[name][k]));
}

function ruleOf(name) {
  const { formula, chosen = {} } = data.steps.find((each) => each.name === name);
  return Object.values(chosen).reduce((text, of) => text.replaceAll("#", data.settings[of]), formula);
}

function show() {
  if (!last) return say("Select an entry first.");
  const { digits } = solution.steps[last.name].worked, { exact } = work.shown(last.name, last.k);
  last.input.value = exact ? typed(exact) : shownText(digits[last.k], data.settings.decimals);
  line.textContent = work.text(last.name, last.k);
  unmark(last);
  keep();
  return null;
}

/** The answers as attncalc check reads them: blanks are null. */
function answers() {
  const { title, student, code } = data.problem;
  const found = code ? { problem: { title, student, code } } : {};
  if (hinted.size) found.problem = { ...found.problem, hints: Object.fromEntries(hinted) };
  for (const [name, row] of Object.entries(texts())) {
    const [h, r, c] = sidesOf(solution.carried[name]);
    if (!row.some((text) => text.trim())) continue;
    const entry = (head, i, j) => withPoint(row[(head * r + i) * c + j]) || null;
    const [rows, columns] = byColumns ? [c, r] : [r, c];
    const heads = Array.from({ length: h || 1 }, (_, head) => Array.from({ length: rows }, (_row, i) =>
      Array.from({ length: columns }, (_column, j) => (byColumns ? entry(head, j, i) : entry(head, i, j)))));
    found[name] = h ? heads : heads[0];
  }
  return `${JSON.stringify(found, null, 1)}\n`;
}

function download() {
  save(answers(), data.file);
  say(`${data.file} is in your downloads. Mark it with: attncalc check problem.json ${data.file}`);
}

function clear() {
  for (const box of boxes.values()) {
    box.input.value = "";
    unmark(box);
  }
  keep();
  say("Cleared.");
}

const line = make("p", { "aria-live": "polite", class: "line" });
const aside = make("div", { class: "at-hand", hidden: true, role: "region", "aria-label": "The selected entry" }, line,
  make("div", { class: "buttons" }, button("Hint 2", () => hint(2)), button("Hint 3", () => hint(3)), button("Show", show)));

export function start() {
  for (const room of all(".room")) room.hidden = true; // there are boxes
  all("table[data-step]").forEach(fillWithBoxes);
  main.before(make("div", { class: "live", role: "region", "aria-label": "Practice" },
    make("div", { class: "buttons" }, button("Check", check), button("Hint 1", () => hint(1)), button("Download my answers", download), button("Clear", clear)),
    whereItIsSaid(),
    make("p", {}, "Your answers stay in this browser. Check shows what is right, or correct given your "
      + "earlier values; run attncalc check on the downloaded answers for more. "
      + "Hint 1 says where to look, and at the selected entry Hint 2 the rule, Hint 3 (Shift+Enter) the work "
      + "and Show (Ctrl+Enter) the result; the download lists hints.")));
  document.body.append(aside);
  say(recall() ? "" : KEEPS_NOTHING);
}
