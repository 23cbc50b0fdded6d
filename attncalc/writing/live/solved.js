// The solution of the edited problem, and how each entry is calculated.

import { data, problemNow } from "./edited.js";
import { sidesOf, solve as solutionOf } from "./equations/solve.js";
import { Work } from "./equations/work.js";

const values = new WeakMap();
export let solution = null, work = null;

/** Solve the problem; if it is refused, keep the last solution. */
export function solve() {
  solution = solutionOf(problemNow(), solution);
  work = new Work(solution, data.fractions);
}

/** Compute it on first use. */
export const solved = () => solution ?? solve();

/** A computed step: whole numbers of the last shown place (`digits`), its matrix. */
export const workedOf = (name) => solution.steps[name].worked;

/** Heads (0 for none), rows and columns of a matrix. */
export const shapeOf = (name) => sidesOf(solution.carried[name]);

/** The entries of a matrix as the next step reads them, as doubles: for pictures, and what is largest. */
export function valuesOf(name) {
  const matrix = solution.carried[name], { v, e } = matrix.near;
  // a short number within the bound is meant: 0.25 is halfway between two shades, and 0.25 - 2^-54 is not
  const short = (x, k) => { const near = Math.round(x * 1e9) / 1e9; return Math.abs(near - x) <= e[k] ? near : x; };
  if (!values.has(matrix)) values.set(matrix, e ? v.map(short) : v);
  return values.get(matrix);
}

/** The row of a matrix, given by head and row, within all entries; one head serves all. */
export function rowOf(name, all, h, i) {
  const [heads, r, c] = shapeOf(name), from = ((heads > 1 ? h : 0) * r + i) * c;
  return Array.from(all.slice(from, from + c));
}
