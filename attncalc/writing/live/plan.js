// A problem worked out: the plan run, with enough digits that every shown one is right.

import { Refusal, asWritten, bits, halfAway, halfEven, once, pointed, readNumber, size, tenTo, together } from "./numbers.js";
import { Matrix, OPERATIONS, settled } from "./operations.js";

const SPARE_FACTORS = 2, SPARE_DIGITS = 90, TRUSTED_DIGITS = 60;

/** Read a given matrix: its shape [heads, rows, columns], and its entries as they were typed. */
export function readMatrix({ shape: [h, r, c], entries }) {
  const numbers = entries.map((typed) => (typed === "-inf" ? null : readNumber(typed)));
  const d = numbers.reduce((all, each) => (each ? together(all, each.d) : all), 1n);
  return new Matrix(h, r, c, numbers.map((each) => each && each.n * (d / each.d)), d);
}

/** How many digits are carried, and up to which place they can be trusted, as in solving/exactness. */
export function digitsFor(data, steps) {
  let [high, low] = [1, -data.settings.decimals];
  const count = (typed, least) => {
    const { before, after } = digitsOf(typed);
    high = Math.max(high, before);
    low = Math.min(low, -Math.max(least, after));
  };
  for (const { role, entries } of Object.values(data.given)) {
    const typed = role === "marks" ? [] : entries.filter((each) => each !== "-inf");
    const least = typed.every((each) => digitsOf(each).isFloat) ? 1 : 0; // a float is written as 2.0
    for (const each of typed) count(each, least);
  }
  for (const each of Object.values(data.settings)) if (/\d/.test(each) && each.at) count(each, 0);
  const factors = {};
  let longest = 1;
  for (const step of steps) {
    const own = step.inputs.map((name) => factors[name] ?? 1);
    longest = Math.max(longest, (factors[step.name] = OPERATIONS[step.op].factors(own, step)));
  }
  longest += SPARE_FACTORS;
  const digits = SPARE_DIGITS + longest * (high - low);
  // beyond, attncalc falls back to floats, as solving/exactness.py has it
  if (digits > data.most)
    throw new Refusal("with so many digits attncalc works in floats, which could show others");
  return { precision: digits, guard: TRUSTED_DIGITS - longest * low };
}

/** Digits of a number before and after its point, and whether a float says the same number. */
const digitsOf = (typed) => once(`digits ${typed}`, () => {
  const { n, d } = readNumber(typed);
  const isFloat = !typed.includes("/") && asWritten(readNumber(String(Number(typed)))) === typed;
  return { before: (size(n) / d).toString().length, after: placesOf(d), isFloat };
});

/** Decimals that a denominator takes; of thirds, as many as it has digits. */
function placesOf(d) {
  let [rest, twos, fives] = [d, 0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos += 1;
  for (; rest % 5n === 0n; rest /= 5n) fives += 1;
  return rest === 1n ? Math.max(twos, fives) : d.toString().length;
}

/** The matrix in whole numbers of the last shown place, half away from zero or cut otherwise. */
export function rounded(X, decimals, guard, cut = halfAway) {
  const place = tenTo(decimals), beyond = tenTo(guard - decimals), dust = tenTo(guard);
  // an exact number this simple is no nearer to a tie than the dust that is cleared first
  const isPlain = X.isExact && bits(X.d) < 3 * (guard - decimals) - 8;
  return X.like(X.n.map((n) => {
    if (n === null || n === 0n) return n;
    return isPlain ? cut(n * place, X.d) : cut(halfEven(n * dust, X.d), beyond);
  }), place, true);
}

const LARGEST_FLOAT = 2n ** 1024n;

/** What of an earlier run can be kept: nothing, where it had other digits or other rules. */
function kept(before, fresh) {
  const isSame = before && ["bits", "guard", "decimals", "rounding", "cut"].every((name) => before[name] === fresh[name]);
  return isSame ? before : { known: {}, results: {}, data: { given: {} }, texts: {} };
}

/** Work out all steps: what each came to (`made`), what the next one read, and what is shown. */
export function run(data, steps, cut = halfAway, before = null) {
  const { decimals, rounding } = data.settings;
  // what was not changed is worked out with as many digits as attncalc took for it
  const { precision, guard } = data.digits ?? digitsFor(data, steps);
  const w = Math.ceil(precision * 3.3219281) + 16;
  const known = {}, results = {}, texts = {};
  const solution = { steps, known, results, texts, bits: w, guard, decimals, rounding, cut, data };
  const old = kept(before, solution);
  for (const [name, matrix] of Object.entries(data.given))
    known[name] = old.data.given[name]?.entries === matrix.entries ? old.known[name] : readMatrix(matrix);
  for (const step of steps) {
    const inputs = step.inputs.map((name) => known[name]);
    const { name } = step;
    texts[name] = JSON.stringify(step);
    if (texts[name] === old.texts[name] && step.inputs.every((each) => known[each] === old.known[each])) {
      [known[name], results[name]] = [old.known[name], old.results[name]]; // it reads what it read
      continue;
    }
    const made = settled(OPERATIONS[step.op].apply(step, inputs, w), w);
    if (made.n.some((n) => n !== null && size(n) >= LARGEST_FLOAT * made.d))
      throw new Refusal(`${name} grows beyond 1.8e308, the largest number here`);
    const digits = rounded(made, decimals, guard, cut);
    // what is given, and only shown as a step, is read as it was given
    known[name] = rounding === "each-step" && !step.inputs.includes(name) ? digits : made;
    results[name] = { made, carried: known[name], digits };
  }
  return solution;
}

/** An entry as it is shown, with all its decimals. */
export const shownText = (whole, decimals) => (whole === null ? "-inf" : pointed(whole, decimals));

/** All entries of all steps as they are shown, by name. */
export function shown(solution) {
  const { decimals } = solution.data.settings;
  return Object.fromEntries(Object.entries(solution.results).map(([name, { digits }]) =>
    [name, digits.n.map((whole) => shownText(whole, decimals))]));
}
