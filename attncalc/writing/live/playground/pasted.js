// Pasted or dropped text as matrices: of spreadsheets, NumPy, LaTeX, Markdown and JSON.

import { Refusal } from "../numbers.js";
import { stateOfFile } from "./state.js";

const NUMBER = /[-+−]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][-+]?\d+)?(?:\s*\/\s*\d+)?|[-+−]?(?:inf|∞)/gu;
const NAMED = /(?:^|\n|;)[\s$\\]*([A-Za-z](?:_\{?[A-Za-z0-9]+\}?|[A-Za-z0-9])*(?:\.[A-Za-z_0-9]+)*)\s*(?:&?=|:)\s*/g;
const MOST = 200_000;

/** Text as `file`, a function that returns the state of a problem, or `matrices` by name ("" for one without). */
export function readPasted(text) {
  if (text.length > MOST) throw new Refusal(`more than ${MOST} characters`);
  const json = jsonIn(text);
  if (json && !Array.isArray(json)) return { file: () => stateOfFile(json) };
  const starts = [...text.matchAll(NAMED)].filter((found) => /^[\s$[({\\\n]*(?:np\.array|array|torch\.tensor|tensor|jnp\.array|\\begin|\\left|[-+−.\d[({|])/.test(text.slice(found.index + found[0].length)));
  const matrices = {};
  starts.forEach((found, k) => {
    const end = starts[k + 1]?.index ?? text.length;
    matrices[found[1].replace(/[{}]/g, "")] = rowsOf(text.slice(found.index + found[0].length, end));
  });
  if (!starts.length) matrices[""] = json ? json.map((row) => (Array.isArray(row) ? row : [row]).map(String)) : rowsOf(text);
  return { matrices };
}

function jsonIn(text) {
  try {
    const found = JSON.parse(text);
    return found && typeof found === "object" ? found : null;
  } catch { return null; }
}

/** The rows of numbers of a text. */
export function rowsOf(text) {
  const isLatex = /\\begin\{|\\\\|&/.test(text) && !/^\s*\|/m.test(text);
  let body = text.replace(/\\begin\{\w+\*?\}(?:\{[lcr|]*\})?|\\end\{\w+\*?\}|\\(?:left|right|hline|quad)\W?/g, " ").replace(/\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}/g, "$1/$2");
  if (!isLatex) body = body.replace(/\\/g, " ");
  const isBracketed = /\[/.test(body), lines = isLatex ? body.split(/\\\\/) : isBracketed ? bracketed(body) : body.split(/[\n;]/);
  const kept = lines.filter((line) => /\d|∞|inf/.test(line) && !/^[\s|:+-]*$/.test(line.replace(/[-:|]/g, "")));
  const rows = kept.map((line) => numbersOf(line, isLatex));
  const width = rows[0]?.length ?? 0;
  if (!width || rows.some((row) => row.length !== width)) throw new Refusal("these are no rows of numbers of one length");
  return rows;
}

/** The innermost brackets: [[1, 2], [3, 4]] and [1 2; 3 4]. */
function bracketed(text) {
  const found = [...text.matchAll(/\[([^[\]]*)\]/g)].map(([, inner]) => inner);
  return found.length ? found.flatMap((each) => each.split(/[;\n]/)) : text.split(/[\n;]/);
}

function numbersOf(line, isLatex) {
  const sides = isLatex ? line.split("&") : line.includes("\t") ? line.split("\t") : line.includes("|") ? line.split("|") : null;
  const spoken = sides ? sides.filter((side) => side.trim()) : null;
  if (spoken) return spoken.map((side) => clean(side.match(NUMBER)?.[0] ?? refuse(side)));
  const isComma = /,/.test(line) && !/\d,\d+\s+[-+−\d]|\d,\d+;/.test(line); // "1,5 2,5" has decimal commas
  const items = isComma ? line.split(",") : line.trim().split(/\s+/);
  return items.filter((item) => item.trim()).map((item) => clean(item.match(NUMBER)?.[0] ?? refuse(item)));
}

const clean = (text) => text.replace("−", "-").replace(/\s/g, "").replace(/^([^.,]*),([^.,]*)$/, "$1.$2").replace("∞", "inf");
const refuse = (text) => { throw new Refusal(`"${text.trim()}" is no number`); };
