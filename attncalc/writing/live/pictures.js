// The map and the heatmap, drawn again where weights are others.

import { connection, sentence, weightsTold } from "./attended.js";
import { cellsOf } from "./cells.js";
import { byColumns, data, state } from "./edited.js";
import { all, drawn, make } from "./elements.js";
import { shownText } from "./equations/solve.js";
import { rowOf, shapeOf, valuesOf, workedOf } from "./solved.js";

const look = data.look;
/** A length as the page was written with: ties go to the even digit. */
function drawnAt(x, places) {
  const units = x * 10 ** places, isTie = (x * 2 ** (places + 1)) % 1 === 0 && units % 2 === 0.5;
  return (isTie ? (units - 0.5) / 10 ** places : x).toFixed(places);
}
const cut = (length) => drawnAt(length, 1).replace(/\.0$/, ""); // a place on the screen

const isOf = (name) => (each) => each.dataset.weights === name;
const headOf = (each) => Number(each.dataset.head ?? 1) - 1;
const pictures = (name) => all("svg[data-weights]").filter(isOf(name));

/** Sentences and pictures of weights. */
export function renderConnections(name) {
  const shown = pictures(name);
  for (const list of all("ul[data-weights]").filter(isOf(name))) {
    const h = headOf(list);
    const told = Array.from({ length: shapeOf(name)[1] }, (_, i) => sentence(name, h, i));
    if (list.children.length === told.length)
      told.forEach((text, i) => list.children[i].textContent === text || list.children[i].replaceChildren(text));
    else list.replaceChildren(make("li", {}, "hidden after a change: the list does not include all outputs"));
    for (const picture of shown.filter((each) => headOf(each) === h)) {
      const desc = picture.querySelector("desc");
      const numbers = desc.textContent.startsWith("Weights of output ") ? told.map((_, i) => weightsTold(name, h, i)) : told;
      desc.textContent = numbers.map((text) => `${text}.`).join(" ");
      if (picture.classList.contains("map")) renderMap(picture, name, h);
      else renderHeatmap(picture, name, h);
    }
  }
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Set the elements of a group, and keep the existing ones. */
function hold(group, tag, wanted) {
  wanted.forEach(([attributes, text], k) => {
    const element = group.children[k] ?? group.appendChild(drawn(tag));
    set(element, attributes);
    if (element.textContent !== text) element.textContent = text;
  });
  while (group.children.length > wanted.length) group.lastElementChild.remove();
}

function renderMap(picture, name, h) {
  const [, rows, columns] = shapeOf(name);
  const dots = all("circle", picture).map((dot) => ["cx", "cy"].map((at) => Number(dot.getAttribute(at))));
  const [inputs, outputs] = [dots.slice(0, columns), dots.slice(columns)];
  const lines = [], texts = [];
  for (let i = 0; i < rows; i += 1) {
    const found = connection(name, h, i);
    for (const rank of ["most", "second"])
      found[rank].forEach((j, turn) => {
        const [[a, b], [x, y]] = [inputs[j], outputs[i]];
        const share = Math.min(1, Math.abs(found.full[j]));
        const of = { class: rank, "data-output": i + 1, "data-input": j + 1 };
        const wide = cut(look.thinnest + (look.thickest - look.thinnest) * share);
        lines.push([{ x1: cut(a), y1: cut(b), x2: cut(x), y2: cut(y), "stroke-width": wide, ...of }, ""]);
        if (Math.max(inputs.length, outputs.length) > look.written || found[rank].length > look.tied) return;
        const near = look.near + look.between * (turn + (rank === "second"));
        const place = { x: cut(x + (a - x) * near), y: cut(y + (b - y) * near + 4) };
        texts.push([{ ...place, ...of }, shownText(found.shown[j], state.settings.decimals)]);
      });
  }
  hold(picture.querySelector(".lines"), "line", lines);
  hold(picture.querySelector(".weights"), "text", texts);
}

/** Write a number into a cell, in smaller letters where it is too long for that. */
function fit(text, digits, rect) {
  if (text.textContent === digits) return;
  text.textContent = digits;
  const room = rect.getAttribute("width") / (look.letter * digits.length + 7);
  if (room < 1) text.setAttribute("font-size", `${cut(13 * room)}px`);
  else text.removeAttribute("font-size");
}

const marks = new WeakMap();

/** The cells of a heatmap, found once, and how each looks as it is known to. */
function marksIn(picture) {
  if (!marks.has(picture))
    marks.set(picture, all("g[data-row]", picture).map((group) => {
      const [rect, text] = group.children;
      return { group, rect, text, row: group.dataset.row - 1, column: group.dataset.column - 1 };
    }));
  return marks.get(picture);
}

function renderHeatmap(picture, name, h) {
  const [, rows, columns] = shapeOf(name), [ofScores] = Object.values(workedOf(name).step.inputs);
  const ofHead = (title, all) => Array.from({ length: rows }, (_, i) => rowOf(title, all, h, i)).flat();
  const weights = ofHead(name, valuesOf(name)), digits = ofHead(name, workedOf(name).digits), scores = ofHead(ofScores, valuesOf(ofScores));
  const largest = weights.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const most = (largest > 0 && largest < look.full) || largest > 1 ? largest : 1;
  for (const mark of marksIn(picture)) {
    const { group, rect, text } = mark;
    const k = byColumns ? mark.column * columns + mark.row : mark.row * columns + mark.column;
    const share = Math.min(1, Math.abs(weights[k]) / most), shade = drawnAt(share, 2); // for drawing only, not a digit
    if (mark.shade !== shade) rect.setAttribute("fill-opacity", (mark.shade = shade));
    if (text) fit(text, shownText(digits[k], state.settings.decimals), rect);
    const worn = [scores[k] === -Infinity ? "masked" : "", share >= look.deep ? "deep" : share >= look.middle ? "middle" : "", weights[k] < 0 ? "negative" : ""].filter(Boolean).join(" ");
    if (worn === mark.worn) continue;
    mark.worn = worn;
    if (worn) group.setAttribute("class", worn);
    else group.removeAttribute("class");
  }
}

/** The cell that a line of the map, or a cell of the heatmap, represents. */
export function cellOfPicture(target) {
  const picture = target?.closest?.("svg[data-weights]");
  const { output, input, row, column } = target?.closest?.("[data-output], [data-row]")?.dataset ?? {};
  const name = picture?.dataset.weights;
  if (!name || !(output || row)) return null;
  const [, r, c] = shapeOf(name);
  const [i, j] = output ? [output, input] : byColumns ? [column, row] : [row, column];
  return cellsOf(name)[(headOf(picture) * r + (i - 1)) * c + (j - 1)];
}

/** The lines and cells of the pictures that represent an entry. */
export function marksOf({ name, h, i, j }) {
  const [row, column] = byColumns ? [j, i] : [i, j];
  return pictures(name).filter((each) => headOf(each) === h).flatMap((picture) => [...picture.querySelectorAll(
    `[data-output="${i + 1}"][data-input="${j + 1}"], g[data-row="${row + 1}"][data-column="${column + 1}"]`)]);
}
