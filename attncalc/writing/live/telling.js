// The text about the entry under the pointer: its work, or how to change a given number.

import { cellRead, entryOf } from "./cells.js";
import { afterChange, edit, undo } from "./changing.js";
import { nameOf, typedNow } from "./edited.js";
import { byId, make } from "./elements.js";
import { cellOfPicture, marksOf } from "./pictures.js";
import { atHand, relit, startPointing } from "./pointing.js";
import { solved, work } from "./solved.js";
import { tried } from "./trying.js";

const line = make("p", { "aria-live": "polite", class: "line" });
const input = make("input", { type: "text", size: 12, autocomplete: "off", autocapitalize: "off" });
const form = make("form", { hidden: true, onsubmit: apply }, input, make("button", { type: "submit" }, "Change"));
const wrong = make("p", { role: "alert", class: "wrong" });

function apply(event) {
  event.preventDefault();
  const cell = atHand(), entry = entryOf(cell);
  if (!entry?.isGiven) return;
  const { id } = cell;
  come();
  const said = (reason) => (wrong.textContent = `${nameOf(entry)}: ${reason}`);
  tried(() => edit(entry.name, entry.flat, input.value, said), said);
  if (!wrong.textContent) byId(id)?.focus({ preventScroll: true });
}

/** Show the work of an entry; return the cells to highlight. */
function tell(cell) {
  const entry = entryOf(cell);
  form.hidden = !entry.isGiven;
  if (!entry.isGiven) {
    solved();
    line.textContent = work.text(entry.name, entry.flat);
    return [...reads(cell), ...marksOf(entry)];
  }
  line.textContent = `${nameOf(entry)} is given`;
  if (document.activeElement !== input) input.value = typedNow(entry);
  input.setAttribute("aria-label", `New value of ${nameOf(entry)}`);
  return [];
}

function reads(cell) {
  const { name, flat } = entryOf(cell);
  return work.readFor(name, flat).map(cellRead).filter(Boolean);
}

/** Go to where a given number is edited. */
function type(cell, text = null) {
  if (!entryOf(cell).isGiven) return false;
  if (text === null) input.select();
  else input.value = text;
  input.focus();
  return true;
}

function onUndo(event) {
  if (!(event.ctrlKey || event.metaKey) || event.key !== "z" || event.target.matches?.("input, select, textarea")) return;
  event.preventDefault();
  undo();
}

const cellOf = (target) => target?.closest?.("svg") && (solved(), cellOfPicture(target));
const come = () => void (wrong.textContent = "");

export function startTelling() {
  startPointing({ knows: entryOf, cellOf, tell, reads, type, come }, line, form, wrong);
  input.addEventListener("keydown", (event) => event.key === "Escape" && atHand()?.focus());
  input.addEventListener("input", come);
  document.addEventListener("keydown", onUndo);
  afterChange(relit);
}
