// How far each index of an equation runs, from the shapes of the matrices it reads.

import { walk } from "./parse.js";

export const SIDES = { rows: 2, columns: 1, heads: 3 };
const WHOLE = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  "//": (a, b) => Math.floor(a / b), "%": (a, b) => a - b * Math.floor(a / b),
};

/** A size from other sizes and settings; undefined where one of them is not known. */
export function whole(x, known) {
  if (x.is === "num") return Number(x.value.n) / Number(x.value.d);
  if (x.is === "name") return known[x.name];
  if (x.is === "call" && SIDES[x.name]) return known[`${x.name}(${x.parts[0].name})`];
  const parts = x.parts.map((part) => whole(part, known));
  if (parts.includes(undefined)) return undefined;
  return x.is === "neg" ? -parts[0] : WHOLE[x.is]?.(...parts);
}

/** The range of each index, also in sums: a tree, or null if entries determine it. */
export function sizesOf({ at, over, right, taught }) {
  const asked = {};
  for (const form of [...taught, right]) for (const x of walk(form)) if (x.index) asked[x.index] = x.parts[1];
  at.forEach((index, k) => { asked[index] = over[k]; });
  return asked;
}

/** The shape of the matrix of an entry: one without heads serves them all. */
export const served = (x, shapes) => (x.parts.length > shapes[x.name].length ? [1, ...shapes[x.name]] : shapes[x.name]);

/** Each index and each named size with its number; a side of 1 serves all places. */
export function extents(equation, shapes, settings) {
  const asked = sizesOf(equation), found = {}, known = { ...settings };
  for (const x of walk(equation.right)) {
    if (x.is !== "entry" || !shapes[x.name]) continue;
    const shape = served(x, shapes), sides = shape.slice(shape.length - x.parts.length);
    x.parts.forEach((place, k) => {
      if (place.name in asked && place.is === "name" && (found[place.name] ?? 1) === 1) found[place.name] = sides[k];
      const moved = "+-".includes(place.is) && place.parts[0].is === "name" && place.parts[0].name;
      if (moved && moved in asked) found[moved] ??= sides[k];
    });
  }
  for (const [name, shape] of Object.entries(shapes))
    for (const [side, behind] of Object.entries(SIDES))
      if (shape.length >= behind) known[`${side}(${name})`] = shape[shape.length - behind];
  for (const [index, size] of Object.entries(asked)) if (size?.is === "name" && index in found) known[size.name] ??= found[index];
  for (const [index, size] of Object.entries(asked)) {
    const count = size ? whole(size, known) : undefined;
    if (count !== undefined) found[index] = count;
    if (found[index] === undefined) throw new Error(`${equation.name}: the size of index ${index} is not known`);
  }
  const sizes = Object.fromEntries(Object.entries(known).filter(([name]) => !(name in settings)));
  return { ...sizes, ...found };
}
