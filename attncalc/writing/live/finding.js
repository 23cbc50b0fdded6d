// A way to a token by its name.

import { entryOf } from "./cells.js";
import { all, cellAt, ENTRY, labelled, make, say, tables } from "./elements.js";
import { go } from "./pointing.js";

const MANY = 12; // tokens: of so many, one is looked for

const nameOf = (heading) => heading.textContent.trim();
const plain = (text) => text.trim().toLowerCase();

/** Every row and column with a name, as its first cell and its label. */
function placesOf(wanted) {
  const headings = tables().flatMap((table) => all("th[scope]", table));
  const matching = [(name) => name === wanted, (name) => name.startsWith(wanted), (name) => name.includes(wanted)];
  const found = matching.map((isIt) => headings.filter((each) => isIt(plain(nameOf(each))))).find((each) => each.length) ?? [];
  return found.map((heading) => {
    const table = heading.closest("table"), isRow = heading.scope === "row";
    const cell = isRow ? heading.parentElement.querySelector(ENTRY) : firstOf(table, heading.cellIndex - 1);
    return { cell, said: `${isRow ? "row" : "column"} ${nameOf(heading)} of ${table.parentElement.getAttribute("aria-label")}` };
  }).filter(({ cell }) => cell && entryOf(cell) && cell.offsetParent);
}

function firstOf(table, place) {
  const cell = table.tBodies[0].rows[0].querySelectorAll("td")[place];
  return cell?.dataset.row ? cellAt(table, cell.dataset.row, cell.dataset.column) : null;
}

let last = { wanted: null, at: 0 };

function find(event) {
  event.preventDefault();
  const wanted = plain(event.target.elements[0].value);
  if (!wanted) return say("Type the name of a row or of a column.");
  const places = placesOf(wanted);
  if (!places.length) return say(`No row and no column is called "${wanted}".`);
  last = { wanted, at: last.wanted === wanted ? (last.at + 1) % places.length : 0 };
  const { cell, said } = places[last.at];
  go(cell);
  return say(`${said}: ${last.at + 1} of ${places.length} places${places.length > 1 ? "; search again for the next" : ""}.`);
}

/** Where names are typed, where there are many. */
export function finder() {
  const names = [...new Set(tables().flatMap((table) => all("th[scope=row]", table).map(nameOf)))];
  if (names.length <= MANY) return [];
  const list = make("datalist", { id: "names" }, ...names.map((name) => make("option", { value: name })));
  const input = make("input", { type: "search", name: "name", list: "names", autocomplete: "off" });
  return [make("form", { class: "find", role: "search", onsubmit: find }, labelled("Find a row or column by its name", input), make("button", { type: "submit" }, "Find"), list)];
}
