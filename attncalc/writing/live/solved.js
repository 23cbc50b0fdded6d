// The solution of the edited problem, and how each entry is calculated.

import { rowIn, valuesIn } from "./connections.js";
import { data, problemNow } from "./edited.js";
import { sidesOf, solve as solutionOf } from "./equations/solve.js";
import { Work } from "./equations/work.js";

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

export const valuesOf = (name) => valuesIn(solution.carried[name]);

/** The row of a matrix, given by head and row, within all entries; one head serves all. */
export function rowOf(name, all, h, i) {
  const sides = shapeOf(name);
  return rowIn(sides, all, sides[0] > 1 ? h : 0, i);
}
