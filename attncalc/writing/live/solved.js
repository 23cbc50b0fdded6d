// What the problem comes to as it now is, and how every entry of it comes about.

import { problemNow, stepsNow } from "./edited.js";
import { run } from "./plan.js";
import { Work } from "./work.js";

export let solution = null, work = null;

/** Work the problem out; where it is refused, what was known stays. */
export function solve() {
  solution = run(problemNow(), stepsNow(), undefined, solution);
  work = new Work(solution);
}

/** Work it out where nobody did so yet. */
export const solved = () => solution ?? solve();

/** Act on all entries: by head, row and column, and by place. */
export function each({ h, r, c }, act) {
  for (let k = 0, head = 0; head < (h || 1); head += 1)
    for (let i = 0; i < r; i += 1) for (let j = 0; j < c; j += 1, k += 1) act(head, i, j, k);
}
