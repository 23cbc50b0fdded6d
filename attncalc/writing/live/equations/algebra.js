// Builds and simplifies expressions, as equations/algebra.py.

import { COMPARISONS, name as nameNode, node, num, rebuilt, walk } from "./parse.js";
import { source } from "./source.js";

export const ZERO = num(0), ONE = num(1), TWO = num(2);
const OPPOSITE = { "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==" };

export const same = (a, b) => a === b || (a.is === b.is && source(a) === source(b));
export const has = (list, x) => list.some((each) => same(each, x));
export const negative = (x) => (x.is === "neg" ? x.parts[0] : node("neg", [x]));

/** a * b; the sign of either is substituted before the product. */
export function times(a, b) {
  if (a.is === "neg") return negative(times(a.parts[0], b));
  if (b.is === "neg") return negative(times(a, b.parts[0]));
  if (same(a, ONE)) return b;
  return same(b, ONE) ? a : node("*", [a, b]);
}
export const over = (a, b) => (a.is === "neg" ? negative(over(a.parts[0], b)) : node("/", [a, b]));
export const plus = (a, b) => (b.is === "neg" ? node("-", [a, b.parts[0]]) : node("+", [a, b]));

/** a ** (power - 1). */
export function lowered(a, power) {
  if (power.is !== "num") return node("**", [a, node("-", [power, ONE])]);
  if (same(power, ONE)) return ONE;
  return same(power, TWO) ? a : node("**", [a, node("num", [], { value: { n: power.value.n - power.value.d, d: power.value.d } })]);
}

/** The terms of a sum, or the factors of a product. */
export const split = (sign, x) => (x.is === sign ? x.parts.flatMap((part) => split(sign, part)) : [x]);
export const joined = (sign, list) => (list.length ? list.reduce((a, b) => node(sign, [a, b])) : sign === "+" ? ZERO : ONE);
export const opposite = (test) => (COMPARISONS.includes(test.is) ? node(OPPOSITE[test.is], test.parts) : node("not", [test]));
export const allOf = (...tests) => tests.reduce((a, b) => node("and", [a, b]));

/** A node without the marks and remarks around it, or without one kind of them. */
export function bare(x, kinds = ["mark", "why"]) {
  return kinds.includes(x.is) ? bare(x.parts[0], kinds) : x;
}
export const plain = (x, kinds) => rebuilt(bare(x, kinds), (part) => plain(part, kinds));

/** A tree in which nested sums have different indices. */
export function apart(x, used) {
  if (!x.index) return rebuilt(x, (part) => apart(part, used));
  let index = x.index;
  while (used.has(index) || (index !== x.index && namesOf(x).has(index))) index += "1";
  return rebuilt(renamed(x, index), (part) => apart(part, new Set([...used, index])));
}

/** A tree in which one index runs over one size alone; `seen` has the sizes of indices, and grows. */
export function unique(x, seen) {
  if (!x.index) return rebuilt(x, (part) => unique(part, seen));
  let index = x.index;
  while (seen.has(index) && !(seen.get(index) && same(seen.get(index), x.parts[1]))) index += "1";
  seen.set(index, x.parts[1]);
  return rebuilt(renamed(x, index), (part) => unique(part, seen));
}

export const namesOf = (...trees) => new Set(trees.flatMap((x) => [...walk(x)]).filter((y) => y.is === "name").map((y) => y.name));

/** A tree with names replaced by trees; the index of a sum keeps its meaning. */
export function substituted(x, by) {
  if (x.is === "name") return Object.hasOwn(by, x.name) ? by[x.name] : x;
  if (!x.index) return rebuilt(x, (part) => substituted(part, by));
  const brought = namesOf(...Object.entries(by).filter(([each]) => each !== x.index).map(([, tree]) => tree));
  let index = x.index;
  while (brought.has(index)) index += "_";
  const own = renamed(x, index), { [index]: _, ...inner } = by;
  return { ...own, parts: own.parts.map((part, k) => substituted(part, isInLoop(own, k) ? inner : by)) };
}

/** Whether a part of a sum or a row depends on its index: its body, and the condition of a sum. */
const isInLoop = (x, k) => k === 0 || (k === 2 && x.is !== "row");

/** A sum or a row with another name for its index. */
export function renamed(x, index) {
  if (index === x.index) return x;
  const to = { [x.index]: nameNode(index) };
  return { ...x, index, parts: x.parts.map((part, k) => (isInLoop(x, k) ? substituted(part, to) : part)) };
}
