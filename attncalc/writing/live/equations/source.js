// Trees of equations as text: what parse.js parses back into the same trees.

import { COMPARISONS } from "./parse.js";

const LEVELS = { or: 2, and: 3, not: 4, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7, neg: 8, mark: 8, "**": 9 };
for (const sign of COMPARISONS) LEVELS[sign] = 5;

const levelOf = (x) => (x.is === "if" ? 1 : x.is === "num" && x.value.d !== 1n ? 7 : x.is === "num" && x.value.n < 0n ? 8 : LEVELS[x.is] ?? 10);
const at = (x, level) => (levelOf(x) < level ? `(${source(x)})` : source(x));
const loop = (x) => ` for ${x.index} in ${source(x.parts[1])}`;

/** A tree as text. */
export function source(x) {
  const [a, b, c] = x.parts, level = LEVELS[x.is];
  if (x.is === "num") return x.value.d === 1n ? String(x.value.n) : `${x.value.n} / ${x.value.d}`;
  if (x.is === "inf") return "inf";
  if (x.is === "name") return x.name;
  if (x.is === "entry") return `${x.name}[${x.parts.map(source).join(",")}]`;
  if (x.is === "neg") return `-${at(a, 8)}`;
  if (x.is === "mark") return `+${at(a, 8)}`;
  if (x.is === "not") return `not ${at(a, 4)}`;
  if (x.is === "if") return `${at(b, 2)} if ${at(a, 2)} else ${source(c)}`;
  if (x.is === "sum" || x.is === "max") {
    if (x.index) return `${x.is}(${at(a, 1)}${loop(x)}${c ? ` if ${at(c, 2)}` : ""})`;
  }
  if (x.is === "row") {
    const [, , place, ...beside] = x.parts, body = `${at(a, 1)}${loop(x)}`;
    return `${x.name}(${beside.length ? `(${body}), ${beside.map(source).join(", ")}` : body})[${source(place)}]`;
  }
  if (x.is === "call") return `${x.name}(${x.parts.map(source).join(", ")})`;
  if (x.is === "why") return `why(${source(a)}, "${x.words.map((word) => (typeof word === "string" ? word : `{${source(word)}}`)).join("")}"${b ? `, ${source(b)}` : ""})`;
  if (x.is === "**") return `${at(a, 10)} ** ${at(b, 8)}`;
  return `${at(a, level)} ${x.is} ${at(b, level + 1)}`;
}

/** An equation as text. */
export const written = ({ name, at: indices, over, right }) =>
  `${name}[${indices.map((index, k) => (over[k] ? `${index} in ${source(over[k])}` : index)).join(", ")}] = ${source(right)}`;
