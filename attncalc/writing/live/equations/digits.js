// The number of digits with which attncalc computes a problem, which determines how long numbers are shown.

import { Refusal, asWritten, once, readNumber, size } from "../numbers.js";

const SPARE_FACTORS = 2, SPARE_DIGITS = 90, TRUSTED_DIGITS = 60;

/**
 * How many digits are carried, and up to which place they can be trusted, as in solving/exactness.
 *
 * @param longest how many numbers as typed are multiplied into one entry at most
 * @param most how many digits attncalc carries at most: beyond, it computes in floats
 */
export function digitsFor(given, settings, longest, most) {
  let [high, low] = [1, -settings.decimals];
  const count = (typed, least) => {
    const { before, after } = digitsOf(typed);
    high = Math.max(high, before);
    low = Math.min(low, -Math.max(least, after));
  };
  for (const { role, entries } of Object.values(given)) {
    const typed = role === "marks" ? [] : entries.filter((each) => each !== "-inf");
    const least = typed.every((each) => digitsOf(each).isFloat) ? 1 : 0; // a float is written as 2.0
    for (const each of typed) count(each, least);
  }
  for (const each of Object.values(settings)) if (/\d/.test(each) && each.at) count(each, 0);
  const factors = longest + SPARE_FACTORS, precision = SPARE_DIGITS + factors * (high - low);
  if (precision > most) throw new Refusal("with so many digits attncalc works in floats, which could show others");
  return { precision, guard: TRUSTED_DIGITS - factors * low };
}

/** Digits of a number before and after its point, and whether a float is exact. */
const digitsOf = (typed) => once(`digits ${typed}`, () => {
  const { n, d } = readNumber(typed);
  const isFloat = !typed.includes("/") && asWritten(readNumber(String(Number(typed)))) === typed;
  return { before: (size(n) / d).toString().length, after: placesOf(d), isFloat };
});

/** Decimals that a denominator requires; for thirds, the number of its digits. */
function placesOf(d) {
  let [rest, twos, fives] = [d, 0, 0];
  for (; rest % 2n === 0n; rest /= 2n) twos += 1;
  for (; rest % 5n === 0n; rest /= 5n) fives += 1;
  return rest === 1n ? Math.max(twos, fives) : d.toString().length;
}
