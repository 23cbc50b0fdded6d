// What the outputs of an attention attend to, from the values of its weights.

import { shownText } from "./equations/solve.js";

const values = new WeakMap();

/** The entries of a matrix as the next step reads them, as doubles: for pictures, and what is largest. */
export function valuesIn(matrix) {
  const { v, e } = matrix.near;
  // a short number within the bound is meant: 0.25 is halfway between two shades, and 0.25 - 2^-54 is not
  const short = (x, k) => { const near = Math.round(x * 1e9) / 1e9; return Math.abs(near - x) <= e[k] ? near : x; };
  if (!values.has(matrix)) values.set(matrix, e ? v.map(short) : v);
  return values.get(matrix);
}

/** Places that share the first place, within a billionth of it. */
function sharing(row) {
  const most = Math.max(...row);
  return row.flatMap((x, j) => ((most - x) * 1e9 <= Math.abs(most) ? [j] : []));
}

/** The inputs with the largest and the second weight of a row, given in full and as shown. */
export function connectionIn(full, shown) {
  if (!full.some((x) => x > 0)) return { most: [], second: [], shown, full };
  const most = sharing(full);
  if (most.length > 1) return { most, second: [], shown, full };
  const rest = full.map((x, j) => (shown[j] && !most.includes(j) ? x : 0));
  return { most, second: rest.some((x) => x > 0) ? sharing(rest) : [], shown, full };
}

/** The entries of a row of a matrix with such sides, by head and row. */
export const rowIn = ([, r, c], all, h, i) => Array.from(all.slice((h * r + i) * c, (h * r + i + 1) * c));

/** Which weights are the most of their output, and which its second, by place. */
export function ranksIn([h, r, c], connectionOf) {
  const ranks = [];
  for (let x = 0; x < (h || 1); x += 1) for (let i = 0; i < r; i += 1) {
    const found = connectionOf(x, i);
    for (const rank of ["second", "most"]) for (const j of found[rank]) ranks[(x * r + i) * c + j] = rank;
  }
  return ranks;
}

/** Names one after another, of many the first few of them and how many more. */
export function listed(all, look) {
  const names = all.length > look.listed ? [...all.slice(0, look.named), `${all.length - look.named} more`] : all;
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The inputs that an output attends to, as a sentence. */
export function sentenceOf(output, inputs, { most, second, shown }, decimals, look) {
  const said = (places) => {
    const weight = shownText(shown[places[0]], decimals);
    const names = listed(places.map((j) => inputs[j]), look);
    return places.length === 1 ? `input ${names} (${weight})` : `inputs ${names} (${weight} each)`;
  };
  const begin = `Output ${output}`;
  if (!most.length) return `${begin}: no input (every weight is 0)`;
  if (second.length) return `${begin}: most ${said(most)}, second ${said(second)}`;
  if (most.length > 1) return `${begin}: most ${said(most)}, so no second`;
  if (shown.some((n) => n < 0n)) return `${begin}: most ${said(most)}, no second (no other weight is above 0)`;
  const rest = inputs.length > 1 ? `no second (the other weights show as ${shownText(0n, decimals)})` : "no other";
  return `${begin}: most ${said(most)}, ${rest}`;
}
