// Elements of the page, found and made; texts are texts, whatever they hold.

export const main = document.querySelector("main");
/** What entries of matrices are, among all cells of tables. */
export const ENTRY = "td[data-row]";
export const byId = (id) => document.getElementById(id);

/** A property of an object's own, whatever it is called. */
export const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

/** All such elements of the page's own document, and none of those that are appended to it. */
export const all = (selector, of = main) => [...of.querySelectorAll(selector)].filter((each) => !each.closest("article"));

export const tables = () => all("table.matrix[data-step], table.matrix[data-given]");

/** Have Tab go from matrix to matrix: to the first cell of each. */
export function openToTab() {
  for (const table of tables()) table.querySelector(ENTRY)?.setAttribute("tabindex", 0);
}

/** The cell at a row and a column of a table, as they are counted there. */
export const cellAt = (table, row, column) => table.querySelector(`td[data-row="${row}"][data-column="${column}"]`);

const LARGE = 40; // rows or columns: larger matrices have a window
const isLarge = (table) => table.tBodies[0].rows.length > LARGE || table.tHead.rows[0].cells.length - 1 > LARGE;

/** Put large matrices in a window whose names stay visible. */
export function windowLarge() {
  for (const table of tables()) if (isLarge(table)) table.parentElement.classList.add("windowed");
}

/** Make an element: attributes, event handlers by name with "on", and content. */
export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content);
  return element;
}

export const button = (text, act) => make("button", { type: "button", onclick: act }, text);
/** Say that a button does nothing now; it keeps the focus. */
export const rest = (it, isAtRest) => it.setAttribute("aria-disabled", String(isAtRest));
export const labelled = (text, control) => make("label", {}, make("span", {}, text), control);

const status = make("p", { role: "status", class: "status" });
export const say = (text) => void (status.textContent = text);
export const whereItIsSaid = () => status;

/** Hand out a file. */
export function save(text, name) {
  const place = window.URL.createObjectURL(new window.Blob([text], { type: "application/json" }));
  make("a", { href: place, download: name }).click();
  setTimeout(() => window.URL.revokeObjectURL(place), 1000);
  say(`${name} is in your downloads.`);
}
