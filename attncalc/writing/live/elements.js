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

/** The cell at a row and a column of a table, as they are counted there. */
export const cellAt = (table, row, column) => table.querySelector(`td[data-row="${row}"][data-column="${column}"]`);

const LARGE = 40; // rows or columns: larger matrices have a window
const isLarge = (table) => table.tBodies[0].rows.length > LARGE || table.tHead.rows[0].cells.length - 1 > LARGE;

/** Have the page live: Tab goes from matrix to matrix, and the names of large ones stay visible. */
export function live() {
  document.body.classList.add("lives");
  for (const table of tables()) {
    table.querySelector(ENTRY)?.setAttribute("tabindex", 0);
    if (isLarge(table)) table.parentElement.classList.add("windowed");
  }
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

/** Make a part of a picture. */
export function drawn(tag, attributes = {}, ...content) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

/** Make a choice between values, each with its text. */
export const select = (attributes, choices) => make("select", attributes, ...choices.map(([value, text]) => make("option", { value }, text)));
/** As many choices as there are decimals. */
export const DECIMALS = Array.from({ length: 13 }, (_, k) => [String(k), String(k)]);

export const button = (text, act) => make("button", { type: "button", onclick: act }, text);
/** Say that a button does nothing now; it keeps the focus. */
export const rest = (it, isAtRest) => it.setAttribute("aria-disabled", String(isAtRest));
export const labelled = (text, control) => make("label", {}, make("span", {}, text), control);

const status = make("p", { role: "status", class: "status" });
export const say = (text) => void (status.textContent = text);
export const whereItIsSaid = () => status;

/** Hand out a file, of a text or a blob. */
export function save(content, name, type = "application/json") {
  const place = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: place, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(place), 1000);
  say(`${name} is in your downloads.`);
}
