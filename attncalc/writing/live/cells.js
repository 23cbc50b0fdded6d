// The cells of the page: which entry each shows, and which shows an entry.

import { byColumns, data } from "./edited.js";
import { all, ENTRY, own, tables } from "./elements.js";

let places, steps, given;

/** Find the cells again, where there are others. */
export const forgetCells = () => void (places = null);

function index() {
  places = new Map();
  steps = {};
  given = {};
  for (const table of tables()) {
    const isGiven = "given" in table.dataset, name = isGiven ? table.dataset.given : table.dataset.step;
    const found = ((isGiven ? given : steps)[name] ??= []);
    const cells = all(ENTRY, table);
    if (!cells.length) continue;
    const h = Number(table.dataset.head ?? 1) - 1;
    const { row: rows, column: columns } = cells.at(-1).dataset;
    cells.forEach((cell) => {
      const row = cell.dataset.row - 1, column = cell.dataset.column - 1;
      const isTurned = byColumns && !isGiven;
      const [r, c, i, j] = isTurned ? [columns, rows, column, row] : [rows, columns, row, column];
      const flat = (h * r + i) * c + j;
      found[flat] = cell;
      places.set(cell, { name, isGiven, flat, h, i, j });
    });
  }
}

const indexed = () => places ?? index();

/** The entry of a cell: its matrix, and its place in the plan or in the given matrix; else undefined. */
export function entryOf(cell) {
  indexed();
  return places.get(cell);
}

/** The cells of a step by their places in the plan, one after another. */
export function cellsOf(name) {
  indexed();
  return own(steps, name) ?? [];
}

export function givenCell(name, flat) {
  indexed();
  return own(given, name)?.[flat];
}

/** The cell of the k-th entry that is read: of a step, or of a matrix as it was given. */
export const cellRead = ({ name, k }) => (own(data.given, name) ? givenCell(name, data.given[name].from[k]) : cellsOf(name)[k]);
