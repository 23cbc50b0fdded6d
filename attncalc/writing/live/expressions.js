// Small arithmetic expressions, as equations/expressions.py has them, and how they are written.
//
// `exact` is the true value {n, d}, where that is rational and known.

import { asWritten, bits, exp, fix, halfAway, ln, pointed, ratio, root, size, tenTo } from "./numbers.js";

export const number = (text, exact = null, tens = 0) => ({ is: "number", text, exact, tens });
export const indexed = (name, place) => ({ is: "indexed", name, place, exact: null });
export const symbol = (name) => ({ is: "symbol", name, exact: null });
export const whole = (n) => number(String(n), ratio(BigInt(n)));
/** A fraction as a hand writes it: 3, or 5/2. */
export const fraction = (value) => (value.d === 1n ? whole(value.n) : { is: "ratio", exact: value });
export const E = symbol("e");
export const ZERO = whole(0);
export const MINUS_INFINITY = number("-∞");

export const plus = (a, b) => ratio(a.n * b.d + b.n * a.d, a.d * b.d);
export const by = (a, b) => ratio(a.n * b.n, a.d * b.d);
export const over = (a, b) => (b.n < 0n ? ratio(-a.n * b.d, a.d * -b.n) : ratio(a.n * b.d, a.d * b.n));
export const minus = (a) => ({ n: -a.n, d: a.d });
const isZero = (value) => value !== null && value.n === 0n;
const ONE = ratio(1n), NOTHING = ratio(0n);

export function sumOf(...terms) {
  const known = terms.every((term) => term.exact !== null);
  return { is: "sum", terms, exact: known ? terms.reduce((all, term) => plus(all, term.exact), NOTHING) : null };
}
/** The sum of the terms, or the only term. */
export const added = (...terms) => (terms.length === 1 ? terms[0] : sumOf(...terms));
export const negative = (term) => ({ is: "negative", term, exact: term.exact && minus(term.exact) });

/** A product; for two matrices (`isOrdered`), the layout determines the order. */
export function productOf(factors, isOrdered = false) {
  const values = factors.map((factor) => factor.exact);
  let exact = values.includes(null) ? null : values.reduce(by, ONE);
  if (values.some(isZero)) exact = NOTHING;
  return { is: "product", factors, isOrdered, exact };
}

export function quotient(top, bottom) {
  let exact = top.exact && bottom.exact && bottom.exact.n ? over(top.exact, bottom.exact) : null;
  if (isZero(top.exact)) exact = NOTHING;
  return { is: "quotient", top, bottom, exact };
}

export function power(base, exponent) {
  let exact = null;
  const [b, e] = [base.exact, exponent.exact];
  if (isZero(e)) exact = ONE;
  else if (b && e && e.d === 1n && e.n > 0n) exact = ratio(b.n ** e.n, b.d ** e.n);
  return { is: "power", base, exponent, exact };
}

export function rootOf(radicand) {
  const value = radicand.exact;
  let exact = null;
  if (value && value.d === 1n && root(value.n) ** 2n === value.n) exact = ratio(root(value.n));
  return { is: "root", radicand, exact };
}

const AT_ZERO = { sin: NOTHING, tanh: NOTHING, cos: ONE };
export const call = (name, argument) =>
  ({ is: "call", name, argument, exact: isZero(argument.exact) ? AT_ZERO[name] ?? null : null });

/** As it reads where tokens are columns: X W becomes W X. */
export function turnedRound(it) {
  const turned = { ...it };
  for (const [part, held] of Object.entries(it))
    if (held?.is) turned[part] = turnedRound(held);
    else if (held?.[0]?.is) turned[part] = held.map(turnedRound);
  if (it.isOrdered) turned.factors.reverse();
  return turned;
}

// ---------------------------------------------------------------- numbers as they are written

/** The power of ten of the first digit of n / d. */
function placeOfFirst({ n, d }) {
  const most = size(n);
  let place = most.toString().length - d.toString().length;
  const [above, below] = place < 0 ? [most * tenTo(-place), d] : [most, d * tenTo(place)];
  if (above < below) place -= 1;
  return place;
}

/** A number of the person's own, as they would write it: 0.5, 1/3, 2.5×10^-30. */
export function given(value) {
  const text = asWritten(value);
  if (text.includes("/")) return { is: "ratio", exact: value };
  const place = value.n ? placeOfFirst(value) : 0;
  if (place >= -5 && place <= 14) return number(text, value);
  const digits = text.replace(/[-.]/g, "").replace(/^0+|0+$/g, "");
  return number((value.n < 0n ? "-" : "") + digits[0] + (digits[1] ? "." + digits.slice(1) : ""), value, place);
}

/** The first digits of a number, and the power of ten of the first of them, halves away from zero. */
function firstDigits(value, digits) {
  let place = placeOfFirst(value);
  const cut = (at) => {
    const places = digits - 1 - at;
    return places < 0 ? halfAway(value.n, value.d * tenTo(-places)) : halfAway(value.n * tenTo(places), value.d);
  };
  let rounded = cut(place);
  if (size(rounded) >= tenTo(digits)) rounded = cut((place += 1));
  return { rounded, place };
}

/** Digits after the last written one that must be 0 for an exact value. */
const DUSTLESS = 30;

/** A number to so many significant digits, halves away from zero. */
export function significant(value, digits) {
  if (value.exponent) return significantPower(value, digits);
  const { rounded, place } = firstDigits(value, digits);
  if (place >= -5 && place < digits) {
    const places = digits - 1 - place;
    const isAll = firstDigits(value, digits + DUSTLESS).rounded === rounded * tenTo(DUSTLESS);
    const text = pointed(rounded, places);
    return number(isAll && places ? text.replace(/\.?0+$/, "") : text);
  }
  return number(pointed(rounded, digits - 1), null, place);
}

/** The same of e^exponent / below, too far from 1 for its digits to be held. */
function significantPower({ exponent, below }, digits) {
  const w = 256 + bits(exponent.n);
  const x = fix(exponent.n, exponent.d, w), ten = ln(10n, 1n, w);
  const tens = x / ten - (x < 0n ? 1n : 0n);
  const sign = below.n < 0n ? -1n : 1n;
  const value = { n: exp(x - tens * ten, w) * below.d * sign, d: (below.n * sign) << BigInt(w) };
  const { rounded, place } = firstDigits(value, digits);
  return number(pointed(rounded, digits - 1), null, BigInt(place) + tens);
}

// ---------------------------------------------------------------- as plain text

const COMPOUND = ["sum", "negative", "product", "quotient", "ratio"];

function bracketed(it) {
  const isCompound = COMPOUND.includes(it.is) || (it.is === "number" && it.tens !== 0);
  return isCompound ? `(${written(it)})` : written(it);
}

export const WRITERS = {
  number: (it) => (it.tens ? `${it.text}×10^${it.tens}` : it.text),
  ratio: (it) => `${it.exact.n}/${it.exact.d}`,
  symbol: (it) => it.name,
  indexed: (it) => `${it.name}[${it.place.join(",")}]`,
  sum: (it) => it.terms.reduce((text, term) => {
    const isMinus = term.is === "negative";
    const inner = isMinus ? term.term : term;
    const said = written(inner), sign = isMinus ? (text ? " - " : "-") : text && " + ";
    return text + sign + (inner.is === "product" || (sign && said[0] === "-") ? `(${said})` : said);
  }, ""),
  negative: ({ term }) => {
    const said = written(term);
    return `-${said[0] === "-" ? `(${said})` : term.is === "quotient" ? said : bracketed(term)}`;
  },
  product: (it) => it.factors.map((factor) =>
    (["sum", "negative", "quotient"].includes(factor.is) ? `(${written(factor)})` : written(factor)))
    .join("·"),
  quotient: (it) => `${it.top.is === "number" ? written(it.top) : bracketed(it.top)} / ${bracketed(it.bottom)}`,
  power: (it) => {
    if (it.exponent.is === "quotient")
      return `${written(it.base)}^(${bracketed(it.exponent.top)}/${bracketed(it.exponent.bottom)})`;
    const base = bracketed(it.base);
    return `${base[0] === "-" ? `(${base})` : base}^${bracketed(it.exponent)}`;
  },
  root: (it) => `√${bracketed(it.radicand)}`,
  call: (it) => `${it.name}(${written(it.argument)})`,
};

/** An expression as a line of plain text: 1.50 / √2. */
export function written(it) {
  return WRITERS[it.is](it);
}
