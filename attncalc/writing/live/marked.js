// A marked answer: the mark of the entry under the pointer, with its work as attncalc wrote it.

import { byId, live, main, make, own } from "./elements.js";
import { startPointing } from "./pointing.js";

const HOW = "Point at an entry, tap it, or move to it with Tab and the arrow keys, to see its inputs and its calculation. "
  + "Press Enter to go to its inputs, n and p for the next and previous, Backspace to go back; click to pin it. You cannot change a marked answer.";
const entries = JSON.parse(byId("problem").textContent).entries;
const said = make("div", { "aria-live": "polite" });

const knows = ({ id }) => Boolean(byId(id));
const reads = ({ id }) => (own(entries, id)?.reads ?? []).map(byId).filter(Boolean);

/** X[1,2], or X[1,1,2] of a head, of a given matrix. */
function givenName(cell) {
  const { given, head } = cell.closest("table").dataset, { row, column } = cell.dataset;
  return `${given}[${[head, row, column].filter(Boolean).join(",")}]`;
}

/** Show the mark and work of an entry; return the cells to highlight. */
function tell(cell) {
  const texts = own(entries, cell.id)?.said ?? [`${givenName(cell)} is given, and cannot be changed here`];
  said.replaceChildren(...texts.map((text) => make("p", { class: "line" }, text)));
  return reads(cell);
}

export function start() {
  live();
  main.prepend(make("p", { class: "live" }, HOW));
  startPointing({ knows, cellOf: () => null, tell, reads, type: () => false }, said);
}
