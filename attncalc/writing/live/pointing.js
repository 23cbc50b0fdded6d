// The entry under the pointer: its inputs are highlighted, its work is shown, and keys move from it.

import { cellAt, ENTRY, main, make, own } from "./elements.js";

const BESIDE = "(min-width: 900px)"; // as in page.css
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const ENDS = { Home: ENTRY, End: `${ENTRY}:last-child` };
let focused = null, pinned = null, trail = [], lit = [];
/**
 * The functions of a page: its cells, the cell that an element represents, the text about a cell (with the
 * cells to highlight), the cells that a cell was computed from, and typing at a cell (true if accepted).
 */
let teller;

export const atHand = () => pinned ?? focused;
export const root = make("div", { class: "at-hand", hidden: true, role: "region", tabindex: 0, "aria-label": "The entry pointed at" });

/** Place the work next to the entry if there is space; the page does not move. */
function standBeside(cell) {
  const isBeside = matchMedia(BESIDE).matches;
  const { top } = cell.getBoundingClientRect();
  const lowest = Math.max(8, innerHeight - root.offsetHeight - 16);
  root.style.top = isBeside ? `${Math.min(Math.max(8, top - 8), lowest) + window.scrollY}px` : "";
}

/** Highlight an entry and its inputs, and show its work. */
function light(cell) {
  for (const each of lit) each.classList.remove("lit", "at");
  lit = [];
  if (!cell?.isConnected || !teller.knows(cell)) return;
  lit = [...teller.tell(cell)];
  for (const each of lit) each.classList.add("lit");
  cell.classList.add("at");
  lit.push(cell);
  root.hidden = false;
  standBeside(cell);
}

const relight = () => light(atHand());

/** The cell that an element of the page represents, if any. */
function cellOfTarget(target) {
  const cell = target?.closest?.(ENTRY) ?? teller.cellOf(target);
  return cell && teller.knows(cell) ? cell : null;
}

// ---------------------------------------------------------------- going

/** Go to a cell, and keep the way there if it was followed. */
export function go(cell, { follows = false, scrolls = true } = {}) {
  if (!cell) return;
  if (!follows) trail = [];
  pin(null);
  cell.closest("section")?.classList.remove("not-shown");
  if (cell.tabIndex < 0) cell.tabIndex = -1; // it can be gone to, and Tab passes it by
  cell.focus({ preventScroll: true });
  if (scrolls) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function pin(cell) {
  pinned?.classList.remove("pinned");
  pinned = cell;
  pinned?.classList.add("pinned");
}

/** Enter goes to an operand; for a given entry, to its field. */
function follow(cell) {
  if (teller.type(cell)) return null;
  const reads = teller.reads(cell);
  if (!reads.length) return null;
  trail.push({ cell, reads, at: 0 });
  return go(reads[0], { follows: true });
}

function beside(by) {
  const last = trail.at(-1);
  if (!last) return;
  last.at = (last.at + by + last.reads.length) % last.reads.length;
  go(last.reads[last.at], { follows: true });
}

function walk(cell, key) {
  const [down, across] = MOVES[key];
  go(cellAt(cell.closest("table"), Number(cell.dataset.row) + down, Number(cell.dataset.column) + across));
}

const ACTS = {
  Enter: follow,
  n: () => beside(1),
  p: () => beside(-1),
  Backspace: () => trail.length && go(trail.pop().cell, { follows: true }),
  Escape: () => (pin(null), relight()),
  ...Object.fromEntries(Object.keys(MOVES).map((key) => [key, (cell) => walk(cell, key)])),
  ...Object.fromEntries(Object.entries(ENDS).map(([key, end]) => [key, (cell) => go(cell.closest("tr").querySelector(end))])),
};

function onKey(event) {
  const { key, target } = event;
  const cell = cellOfTarget(target);
  if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = own(ACTS, key);
  if (!act && !(/^[-0-9.]$/.test(key) && teller.type(cell, key))) return;
  event.preventDefault();
  act?.(cell);
}

// ---------------------------------------------------------------- all together

/** Highlight the current entry again: on the page before a change, or on another one. */
export function relit(isSame) {
  if (!isSame) {
    focused = cellOfTarget(document.activeElement);
    pinned = null;
    trail = [];
  }
  relight();
}

export function startPointing(telling, ...content) {
  teller = telling;
  root.append(...content);
  document.body.append(root);
  main.addEventListener("pointerover", (event) => {
    if (!pinned && event.pointerType !== "touch") light(cellOfTarget(event.target) ?? focused);
  });
  main.addEventListener("focusin", (event) => {
    const cell = cellOfTarget(event.target);
    if (!cell) return;
    focused = cell;
    teller.come?.();
    if (!pinned) light(cell);
  });
  main.addEventListener("click", (event) => {
    const cell = cellOfTarget(event.target);
    if (!cell) return;
    const isSame = pinned === cell;
    go(cell, { scrolls: !event.target.closest("td") });
    pin(isSame ? null : cell);
    light(cell);
    if (event.pointerType === "touch") teller.type(cell); // there are no keys to press
  });
  document.addEventListener("keydown", onKey);
}
