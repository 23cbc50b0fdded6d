// Places of entries solved for their indices, and sums over the indices that remain, as equations/places.py.

import { ONE, ZERO, allOf, has, joined, namesOf, substituted, same, split } from "./algebra.js";
import { name as nameNode, node, rebuilt, some } from "./parse.js";

const TRUE = node("==", [ZERO, ZERO]);
const NO_OPERATOR = ["num", "inf", "name", "entry", "call", "sum", "max", "row", "if", "mark", "why"];
const isName = (x, name) => x.is === "name" && x.name === name;

/** What one entry of an input adds to the gradient at a place. */
export function solved({ entry, adjoint: first, loops: listed, tests: all }, target, fresh) {
  const loops = new Map(listed), rests = new Map();
  let adjoint = first, tests = [...all], places = [...entry.parts];
  for (const index of [...loops.keys(), ...[...loops.values()].filter((size) => size.is === "name").map((size) => size.name), ...target.map(([name]) => name)]) rests.set(index, null);
  const put = (index, value) => {
    const change = (x) => tidied(substituted(x, { [index]: value }), rests);
    [adjoint, places, tests] = [change(adjoint), places.map(change), tests.map(change)];
  };
  for (const [index, size] of listed) if (same(size, ONE)) { // a column of its own, as of means
    loops.delete(index);
    put(index, ZERO);
  }
  target.forEach(([name, size], axis) => {
    const place = places[axis];
    if (isName(place, name)) {
      tests.push(...within(place, loops.get(name), name, size, rests));
      return void loops.delete(name);
    }
    const found = [...loops.keys()].map((index) => [index, inverse(place, index, nameNode(name), loops, fresh)]).filter(([, each]) => each);
    if (!found.length) return void tests.push(node("==", place.is === "num" ? [nameNode(name), place] : [place, nameNode(name)]));
    const [index, best] = found.reduce((a, b) => (b[1].rank < a[1].rank ? b : a)), ran = loops.get(index), rest = best.rest.filter(([each]) => !loops.has(each)), left = [...loops].filter(([each]) => each !== index);
    loops.clear();
    for (const [each, its] of [...rest, ...left]) loops.set(each, its); // the innermost sum is a product of matrices
    for (const [each, its] of best.rest) rests.set(each, its);
    const value = tidied(best.value, rests);
    tests.push(...best.tests, ...within(value, ran, name, size, rests));
    put(index, value);
  });
  return summed(adjoint, loops, tests, target.map(([name]) => name));
}

/** The index at which a place is `at`: { rank, value, rest, tests }; null where no such formula is known. */
function inverse(place, index, at, loops, fresh) {
  const inside = (x) => namesOf(x).has(index), go = (part, by) => inverse(part, index, by, loops, fresh), [a, b] = place.parts;
  if (isName(place, index)) return { rank: 0, value: at, rest: [], tests: [] };
  if (place.is === "neg") return go(a, node("neg", [at]));
  if (NO_OPERATOR.includes(place.is) || !b || (inside(a) && inside(b))) return null;
  if (place.is === "+") return inside(a) ? go(a, node("-", [at, b])) : go(b, node("-", [at, a]));
  if (place.is === "-") return inside(a) ? go(a, node("+", [at, b])) : go(b, node("-", [a, at]));
  if (!["*", "//"].includes(place.is) || !inside(a) || [...namesOf(b)].some((each) => loops.has(each))) return null;
  if (place.is === "*") {
    const found = go(a, node("//", [at, b]));
    return found && { ...found, rank: 2, tests: [...found.tests, node("==", [node("%", [at, b]), ZERO])] };
  }
  const rest = fresh(), found = go(a, node("+", [node("*", [at, b]), nameNode(rest)]));
  return found && { ...found, rank: Math.max(found.rank, 1), rest: [[rest, b], ...found.rest] };
}

/** The conditions for an index from 0 to below its size. */
function within(value, size, name, end, rests) {
  const tests = isNatural(value, rests) ? [] : [node("<=", [ZERO, value])], [a, b] = value.parts;
  if (isName(value, name) && end && has(split("+", size), end)) return tests;
  if (value.is === "+" && isName(a, name) && end && [[b, end], [end, b]].some((both) => same(size, node("+", both)))) return tests;
  if (value.is === "+" && a.is === "*" && isName(a.parts[0], name) && b.is === "name" && end) { // t * g + r for t in T and r in g
    const g = a.parts[1];
    if ([[end, g], [g, end]].some((both) => same(size, node("*", both))) || same(g, node("//", [size, end]))) return tests;
  }
  return [...tests, node("<", [value, size])];
}

/** Whether an expression of indices and sizes is plainly not below 0. */
function isNatural(x, rests) {
  if (x.is === "num") return x.value.n >= 0n;
  if (x.is === "name") return rests.has(x.name);
  return ["+", "*", "//", "%"].includes(x.is) ? x.parts.every((part) => isNatural(part, rests)) : x.is === "call";
}

/** A tree whose places and conditions are simplified. */
function tidied(tree, rests) {
  const x = rebuilt(tree, (part) => tidied(part, rests)), [a, b] = x.parts;
  if (x.is === "if" && same(a, TRUE)) return b;
  if (NO_OPERATOR.includes(x.is) || !b || some(x, (y) => y.is === "entry")) return x;
  if (x.is === "-" && a.is === "+" && has(a.parts, b)) return same(b, a.parts[1]) ? a.parts[0] : a.parts[1];
  if (x.is === "+" && a.is === "-" && same(a.parts[1], b)) return a.parts[0];
  if (x.is === "//" || x.is === "%") {
    const terms = split("+", a).map((term) => [term, quotient(term, b)]), whole = terms.map(([, each]) => each).filter(Boolean), left = terms.filter(([, each]) => !each).map(([term]) => term);
    const rest = joined("+", left), known = rest.is === "name" && rests.get(rest.name), isRest = !left.length || (known && same(known, b));
    if (x.is === "%") return isRest ? rest : node("%", [rest, b]);
    return joined("+", isRest ? whole : [...whole, node("//", [rest, b])]);
  }
  if (x.is === ">=" && a.is === "+" && same(a.parts[1], b) && isNatural(a.parts[0], rests)) return TRUE;
  if (x.is === ">=" && same(b, ZERO) && isNatural(a, rests)) return TRUE;
  if (x.is === ">" && b.is === "num" && a.is === "+" && a.parts[1].is === "num" && isNatural(a.parts[0], rests)) {
    const [one, other] = [a.parts[1].value, b.value];
    if (one.n * other.d > other.n * one.d) return TRUE;
  }
  return x;
}

/** x / g where g is among the factors of a product, else null. */
function quotient(x, g) {
  const left = split("*", x);
  for (const each of split("*", g)) {
    const place = left.findIndex((factor) => same(factor, each));
    if (place < 0) return null;
    left.splice(place, 1);
  }
  return joined("*", left);
}

/** An adjoint summed over the indices that run over it, where the conditions hold: fewest factors first. */
function summed(adjoint, loops, all, target) {
  if (adjoint.is === "neg") return node("neg", [summed(adjoint.parts[0], loops, all, target)]);
  let factors = cancelled(split("*", adjoint)), tests = all.filter((test, k) => !same(test, TRUE) && all.findIndex((each) => same(each, test)) === k);
  const left = new Map(loops);
  while (left.size) {
    const reads = (index) => factors.filter((each) => namesOf(each).has(index));
    const index = [...left.keys()].reverse().reduce((a, b) => (reads(b).length < reads(a).length ? b : a)), size = left.get(index), read = reads(index);
    left.delete(index);
    const where = tests.filter((test) => namesOf(test).has(index)), inner = read.length ? read : factors;
    tests = tests.filter((test) => !where.includes(test));
    const place = factors.findIndex((each) => same(each, inner[0])), others = read.length ? factors.filter((each) => !has(read, each)) : [];
    const made = node("sum", [joined("*", inOrder(inner, target)), size, ...(where.length ? [allOf(...where)] : [])], { index });
    factors = [...others.slice(0, place), made, ...others.slice(place)];
  }
  const out = joined("*", factors);
  return tests.length ? node("if", [allOf(...tests), out, ZERO]) : out;
}

/** Factors without a number that one of them is divided by: x / 2 * 2. */
function cancelled(factors) {
  for (const [k, each] of factors.entries()) {
    if (each.is !== "/" || each.parts[1].is !== "num") continue;
    const place = factors.findIndex((other) => same(other, each.parts[1]));
    if (place >= 0) return cancelled(factors.map((other, at) => (at === k ? each.parts[0] : other)).filter((_, at) => at !== place));
  }
  return factors;
}

/** Two entries as a product of matrices reads them: dS[i,j] * Q[i,c] at [j,c]. */
function inOrder(factors, target) {
  if (factors.length !== 2 || target.length < 2 || factors.some((each) => each.is !== "entry")) return factors;
  const row = target.at(-2), reads = (x) => x.parts.some((part) => isName(part, row));
  return reads(factors[1]) && !reads(factors[0]) ? [factors[1], factors[0]] : factors;
}
