// A worksheet to fill in on the page: the script computes the key, and the page does not contain it.

import { boxes, data, hinted, inNumbers, keep, open, said, walk } from "./boxes.js";
import { button, make, say } from "./elements.js";
import { mark } from "./equations/marks.js";
import { shownText, sidesOf, solve } from "./equations/solve.js";
import { Work } from "./equations/work.js";
import { written } from "./expressions.js";
import { formulaIn } from "./settings.js";

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

const byColumns = data.settings.layout === "columns";
const solution = solve(data), work = new Work(solution, data.fractions);
let last = null;

/** The place of a box in its step. */
function placeOf({ name, head, row, column }) {
  const [, rows, columns] = sidesOf(solution.carried[name]), [i, j] = byColumns ? [column, row] : [row, column];
  return (head * rows + i) * columns + j;
}

/** The mark of each box. */
function marked() {
  const typed = {};
  for (const box of boxes.values()) (typed[box.name] ??= [])[placeOf(box)] = box.input.value;
  const statuses = mark(solution, typed);
  return new Map([...boxes.values()].map((box) => [box, statuses[box.name][placeOf(box)]]));
}

function pressed(event) {
  const asked = event.key === "Enter" && (event.shiftKey ? () => hint(3) : event.ctrlKey || event.metaKey ? show : null);
  if (!asked) return void walk(event);
  event.preventDefault();
  return void asked();
}

function at(box) {
  last = box;
  line.textContent = `${box.name}, ${box.where}`;
  aside.hidden = false;
}

function unmark(box) {
  box.sign.textContent = "";
  box.sign.removeAttribute("title");
  box.input.removeAttribute("aria-description");
  box.cell.removeAttribute("data-status");
}

// ---------------------------------------------------------------- questions

function check() {
  const counts = {};
  for (const [box, status] of marked()) {
    unmark(box);
    counts[status] = (counts[status] ?? 0) + 1;
    if (status === "blank") continue;
    box.sign.textContent = SIGNS[status];
    box.sign.title = said(SAID[status]);
    box.input.setAttribute("aria-description", said(SAID[status]));
    box.cell.dataset.status = status;
  }
  const told = Object.entries({ ...SAID, blank: "blank" }).filter(([status]) => counts[status])
    .map(([status, means]) => `${counts[status]} ${SIGNS[status] ? `${SIGNS[status]} ` : ""}${said(means)}`);
  say(`${told.join("; ")}.`);
}

/** A fraction, as check reads it: a mixed number it does not. */
const typed = ({ n, d }) => (d === 1n ? String(n) : `${n}/${d}`);

/** Where to look; the rule; or the line without its result, nor any number that the result is. */
function hint(level) {
  const box = (level > 1 && last) || firstNotRight();
  if (!box) return say(said("Everything is right."));
  hinted.set(box.name, Math.max(level, hinted.get(box.name) ?? 0));
  keep();
  if (level === 1) box.input.focus();
  at(box);
  line.textContent = level === 1 ? said(`Look at ${box.name}, ${box.where}.`) : inNumbers(level === 2 ? ruleOf(box.name) : lineOf(box));
  return null;
}

function lineOf(box) {
  const { entry, forms, remark } = work.line(box.name, placeOf(box));
  const shown = forms.map((form) => ` = ${written(form)}`).join("");
  return `${written(entry)}${shown} = ?${remark ? `   (${said(remark)})` : ""}`;
}

function firstNotRight() {
  return [...marked()].find(([, status]) => !["correct", "rounding", "follows"].includes(status))?.[0];
}

function ruleOf(name) {
  return formulaIn(data.steps.find((each) => each.name === name), data.settings);
}

function show() {
  if (!last) return say(said("Select an entry first."));
  const { name } = last, k = placeOf(last), { digits } = solution.steps[name].worked, { exact } = work.shown(name, k);
  last.input.value = inNumbers(exact ? typed(exact) : shownText(digits[k], data.settings.decimals));
  line.textContent = inNumbers(work.text(name, k, said));
  unmark(last);
  keep();
  return null;
}

const line = make("p", { "aria-live": "polite", class: "line" });
const aside = make("div", { class: "at-hand", hidden: true, role: "region", "aria-label": said("The selected entry") }, line,
  make("div", { class: "buttons" }, button(said("Hint 2"), () => hint(2)), button(said("Hint 3"), () => hint(3)), button(said("Show"), show)));

export function start() {
  open([button(said("Check"), check), button(said("Hint 1"), () => hint(1))], [
    "Your answers stay in this browser.",
    "Check shows what is right, or correct given your earlier values; run attncalc check on the downloaded answers for more.",
    "Hint 1 says where to look, and at the selected entry Hint 2 the rule, Hint 3 (Shift+Enter) the work and Show (Ctrl+Enter) the result; the download lists hints.",
  ], unmark);
  for (const box of boxes.values()) {
    box.sign = make("span", { class: "sign" });
    box.input.after(box.sign);
    box.input.addEventListener("focus", () => at(box));
    box.input.addEventListener("keydown", pressed);
  }
  document.body.append(aside);
}
