// How each entry is calculated, written from its equation, in the digits shown.
//
// A node is turned once into a function of a level: at level 0 all is written out, at level 1 the
// innermost marked parts (+x) are numbers, at level 2 those around them. A level is a form of the work.

import {
  E, MINUS_INFINITY, WRITERS, ZERO, added, call, fraction, given, indexed, negative, number, power, productOf, quotient,
  rootOf, significant, sumOf, symbol, turnedRound, whole, written,
} from "../expressions.js";
import { asWritten, halfAway, ln, pointed, ratio, readNumber, size, tenTo } from "../numbers.js";
import { asRatio, exactArithmetic, isRational, magnitude, rational, roundedTo } from "./exact.js";
import { SIDES, sizesOf } from "./extents.js";
import { Program } from "./interpret.js";
import { expanded, name, namesIn, node, some, walk } from "./parse.js";
import { placeOf, shownText } from "./solve.js";

const TITLES = { relu: "ReLU", gelu: "GELU", silu: "SiLU", Phi: "Φ", phi: "φ", dgelu: "GELU'" };
const PLACES = ["+", "-", "*", "//", "%", "neg", "abs", "max", "min", ...Object.keys(SIDES)];
const IRRATIONAL = ["exp", "log", "tanh", "sin", "cos", "erf"];
const OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "neg", "and", "or", "not", "<", "<=", "==", "!=", ">", ">="];
const LARGEST_EXPONENT = rational(230n), LARGEST_WHOLE = 10n ** 15n, LARGEST_WRITTEN = 10n ** 7n;
const MOST_MORE_DIGITS = 12, FOOTNOTE_DIGITS = 2, DUST = 10n ** 60n, FAR = 100000;
const PI = symbol("π");

const inLowestTerms = WRITERS.ratio;
WRITERS.ratio = (it) => {
  const { n, d } = it.exact;
  return it.isMixed && size(n) > d ? `${n < 0n ? "-" : ""}${size(n) / d} ${size(n) % d}/${d}` : inLowestTerms(it);
};

const isEntry = (x) => x.is === "entry";
const isNumber = (x, n) => x.is === "num" && x.value.n === n && x.value.d === 1n;
const isDust = (x) => magnitude(x) < 100 && size(asRatio(x).n) * DUST < asRatio(x).d;
const isWeight = ({ equation: { right } }) => right.is === "row" && right.name === "softmax";
const factorsOf = (x) => (x.is === "*" ? [...factorsOf(x.parts[0]), x.parts[1]] : [x]);
const isSame = (a, b) => a !== null && b !== null && a.n * b.d === b.n * a.d;

/** How many levels of numbers a node has. */
function height(x) {
  const inner = x.parts.reduce((most, part) => Math.max(most, height(part)), 0);
  return inner + ((x.is === "mark" && !isEntry(x.parts[0])) || (x.is === "row" && x.name !== "hardmax") ? 1 : 0);
}

/** A product of entries of two matrices with separate indices: tokens as columns reverse it. */
function isOfMatrices({ parts: [a, b] }) {
  if (!isEntry(a) || !isEntry(b)) return false;
  const [one, other] = [a, b].map((x) => namesIn({ parts: x.parts }));
  return [...one].some((each) => !other.has(each)) && [...other].some((each) => !one.has(each));
}

// ---------------------------------------------------------------- one equation

class Writer {
  constructor(work, worked) {
    const { equation, world, rules, step } = worked;
    this.work = work;
    this.step = step;
    this.equation = equation;
    this.told = step.told ?? {};
    this.A = exactArithmetic(rules.w, (title) => { const matrix = worked.matrixAt(title); return (k) => matrix.exactAt(k, rules.w); }, rules.functions);
    this.program = new Program(equation, world, this.A, false);
    const asked = sizesOf(equation);
    this.sizes = new Set([...Object.keys(asked), ...Object.values(asked).filter(Boolean).flatMap((x) => [...namesIn(x)])]);
    for (const index of Object.keys(asked)) this.program.slot(index);
    const taught = equation.taught.map((x) => [this.form(x), height(x)]), explain = this.branch(equation.right);
    const judge = this.told.exact && this.form(node("entry", equation.at.map(name), { name: this.told.exact }));
    this.explain = () => {
      const found = explain(taught.map(([form, level]) => form(level))), isExact = !("exact" in this.told) || judge?.(0).exact;
      return { ...found, exact: isExact ? found.exact : null };
    };
  }

  /** Append a right-hand side to the existing forms. */
  branch(x) {
    const [a, b, c] = x.parts;
    if (x.is === "if") {
      const test = this.test(a), [then, otherwise] = [b, c].map((part) => this.branch(part));
      return (first) => (test() ? then : otherwise)(first);
    }
    if (x.is === "why") {
      const inner = this.branch(a), words = x.words.map((word) => this.words(word)), applies = b && this.test(b);
      return (first) => {
        if (!applies || applies()) this.remark = words.map((said) => said()).join("");
        return inner(first);
      };
    }
    if (isEntry(x)) { // its name: the number does not show its origin
      const place = this.program.place(x);
      return (first) => ({ forms: [...first, this.work.entry(this.titled(x), place())], exact: this.quoted(x, place()).exact });
    }
    const form = this.form(x), levels = height(x), full = expanded(x), known = full === x ? null : this.form(full);
    return (first) => {
      const begin = form(0), forms = first.length ? first : [begin];
      for (let level = 1; level <= levels; level += 1) {
        this.isWorked = false;
        const made = form(level);
        if (this.isWorked) forms.push(made);
      }
      return { forms, exact: (x.is === "row" && this.exact) || (known ? known(0).exact : begin.exact) };
    };
  }

  words(word) {
    if (typeof word === "string") return () => word;
    const value = this.number(word);
    return () => asWritten(value());
  }

  titled(x) {
    return this.step.inputs[x.name] ?? this.step.rows?.[x.name] ?? x.name;
  }

  quoted(x, k) {
    return this.work.read(this.titled(x), k, () => this.program.world.matrix(x.name));
  }

  // -------------------------------------------------------------- numbers that the forms need

  value(x) {
    return this.program.value(x, this.program.at);
  }
  test(x) {
    return this.program.test(x);
  }
  /** A rational number of places, sizes and settings. */
  number(x) {
    if (this.program.isOfPlaces(x)) { const f = this.program.index(x); return () => rational(BigInt(f())); }
    const f = this.value(x);
    return () => { const { n, d } = f(); return ratio(n, d); };
  }

  /** A part as its value; a residue of cancellation is 0, but a power of e may be small. */
  workedOut(x, clears = true) {
    const full = expanded(x), known = this.form(full), value = this.value(x);
    const functions = [...walk(full)].filter((y) => y.is === "call").map((y) => y.name);
    const isIrrational = functions.some((each) => IRRATIONAL.includes(each)), isSine = functions.includes("sin");
    const isCleared = clears && !functions.includes("exp");
    return () => {
      this.isWorked = true;
      const { exact } = known(0), made = exact ?? value();
      const isHidden = (exact && exact.n && isIrrational) || isSine; // e^0 and cos 0 are written as other powers and cosines
      return this.work.write(!exact && isCleared && isDust(made) ? rational(0n) : made, isHidden || this.told.written ? null : exact);
    };
  }

  // -------------------------------------------------------------- expressions

  form(x) {
    const { work } = this, [a, b, c] = x.parts;
    const own = (value) => (value.d === 1n && size(value.n) < LARGEST_WHOLE ? whole(value.n) : this.told.own ? given(value) : work.own(value));
    if (x.is === "num") return () => own(x.value);
    if (x.is === "name" && x.name === "pi") return () => PI;
    if (x.is === "neg" && a.is === "inf") return () => MINUS_INFINITY;
    if (this.isOfPlaces(x)) { const value = this.number(x); return () => own(value()); }
    if (isEntry(x)) { const place = this.program.place(x); return () => this.quoted(x, place()); }
    if (x.is === "why") return this.form(a);
    if (x.is === "mark") {
      const own_ = height(x), form = this.form(a);
      if (own_ === 0 || isEntry(a)) return form;
      const value = this.workedOut(a);
      return (level) => (level >= own_ ? value() : form(level));
    }
    if (x.is === "if") {
      const test = this.test(a), [then, otherwise] = [b, c].map((part) => this.form(part));
      return (level) => (test() ? then : otherwise)(level);
    }
    if (["+", "-", "neg", "sum"].includes(x.is)) {
      const terms = this.terms(x);
      return (level) => { const made = terms(level); return made.length ? added(...made) : ZERO; };
    }
    if (x.is === "*") {
      const factors = factorsOf(x).map((each) => this.form(each)), isOrdered = isOfMatrices(x);
      return (level) => productOf(factors.map((form) => form(level)), isOrdered);
    }
    if (x.is === "/" || x.is === "**") {
      const [f, g] = [a, b].map((part) => this.form(part)), act = x.is === "/" ? quotient : power;
      return (level) => act(f(level), g(level));
    }
    if (x.is === "call") return this.call(x);
    if (x.is === "row") return this.row(x);
    if (x.is === "max") return this.largest(x);
    throw new SyntaxError(`${x.is} cannot be written out, in ${this.equation.text}`);
  }

  call({ name, parts: [a, b] }) {
    const f = this.form(a);
    if (name === "max" || name === "min") {
      const forms = [f, this.form(b)], values = [this.value(a), this.value(b)];
      return (level) => forms[Number((this.A.of.compare(values[0](), values[1]()) < 0) === (name === "max"))](level);
    }
    if (name === "exp") return (level) => power(E, f(level));
    if (name === "sqrt") return (level) => rootOf(f(level));
    if (name === "log" && !this.isOfPlaces(a)) { const value = this.workedOut(a, false); return () => call("log", value()); } // of 0.00 there is none
    return (level) => call(TITLES[name] ?? name, f(level));
  }

  /** Whether a node is arithmetic of places and sizes: it is done, and not written. */
  isOfPlaces(x) {
    if (x.is !== "name" && x.is !== "call" && !OPERATORS.includes(x.is)) return false;
    const isPlain = (y) => !isEntry(y) && !["sum", "max", "mark", "row", "if"].includes(y.is) || (y.is === "max" && !y.index);
    return [...walk(x)].every((y) => isPlain(y) && (!OPERATORS.includes(y.is) && y.is !== "call" ? true : PLACES.includes(y.is === "call" ? y.name : y.is)))
      && (x.is === "name" || some(x, (y) => y.is === "call" && y.name in SIDES) || some(x, (y) => y.is === "name" && this.sizes.has(y.name)));
  }

  /** The terms of a sum; any other node is one term. */
  terms(x) {
    const [a, b] = x.parts;
    if (x.is === "neg") {
      const inner = a.is === "sum" ? this.terms(a) : this.term(a);
      return (level) => inner(level).map(negative);
    }
    if ((x.is === "+" || x.is === "-") && !this.isOfPlaces(x)) {
      const left = this.terms(a), right = b.is === "sum" ? this.terms(b) : this.term(b), turn = x.is === "-" ? negative : (term) => term;
      return (level) => [...left(level), ...right(level).map(turn)];
    }
    return x.is === "sum" ? this.sum(x) : this.term(x);
  }

  term(x) {
    const form = this.form(x);
    return (level) => [form(level)];
  }

  sum(x, isRow = false) {
    const { program } = this, [body, , where] = x.parts, slot = program.slot(x.index), count = program.numbers[x.index];
    const terms = body.is === "sum" ? this.terms(body) : this.term(body);
    const isNothing = !isRow && body.is === "if" ? this.isNothing(body) : () => false, holds = isRow || !where ? () => true : this.test(where);
    return (level) => {
      const before = program.I[slot], made = [];
      for (let k = 0; k < count; k += 1) {
        program.I[slot] = k;
        if (holds() && !isNothing()) made.push(...terms(level));
      }
      program.I[slot] = before;
      return made;
    };
  }

  /** The largest term over an index, whichever that is. */
  largest(x) {
    const { program } = this, [body, , where] = x.parts, slot = program.slot(x.index), count = program.numbers[x.index];
    const form = this.form(body), value = this.value(body), holds = where ? this.test(where) : () => true;
    return (level) => {
      const before = program.I[slot];
      let best = -1, most = null;
      for (let k = 0; k < count; k += 1) {
        program.I[slot] = k;
        if (!holds()) continue;
        const found = value();
        if (best < 0 || this.A.of.compare(found, most) > 0) [best, most] = [k, found];
      }
      program.I[slot] = best;
      const written = form(level);
      program.I[slot] = before;
      return written;
    };
  }

  /** Whether a condition makes a term 0: it is left out. */
  isNothing(x) {
    if (x.is !== "if") return () => isNumber(x, 0n);
    const test = this.test(x.parts[0]), [then, otherwise] = x.parts.slice(1).map((part) => this.isNothing(part));
    return () => (test() ? then() : otherwise());
  }

  // -------------------------------------------------------------- rows of weights

  row(x) {
    const [body, , at, ...beside] = x.parts, own = height(x), { program } = this, slot = program.slot(x.index), count = program.numbers[x.index];
    const entries = this.sum(x, true), score = this.value(body), j = this.number(at);
    const others = beside.map((each) => [this.form(each), this.value(each)]);
    return (level) => {
      const before = program.I[slot], values = [];
      const forms = [...entries(Math.min(level, own - 1)), ...others.map(([form]) => form(level))];
      for (let k = 0; k < count; k += 1) { program.I[slot] = k; values.push(score()); }
      program.I[slot] = before;
      values.push(...others.map(([, value]) => value()));
      if (values.slice(0, count).every((each) => each === null)) {
        this.remark = "no key is left to attend to";
        return ZERO;
      }
      return this[x.name]({ forms, values, keys: count }, Number(j().n), level >= own);
    };
  }

  /** Powers of e over their sum; the largest is subtracted first where they are huge. */
  softmax({ forms, values, keys }, j, isWorked) {
    const { of: act } = this.A, allowed = values.map((each) => each !== null), counted = values.filter((each) => each !== null);
    const top = values.reduce((best, each, k) => (act.compare(each, values[best]) > 0 ? k : best), 0);
    const isShifted = counted.some((each) => act.compare({ ...each, n: size(each.n) }, LARGEST_EXPONENT) > 0);
    if (isShifted) this.remark = `${top < keys ? "the largest score" : "the sink, larger than each score,"} is taken off first`;
    if (isWorked) {
      this.isWorked = true;
      const powers = values.map((each) => act.exp(isShifted && each ? act.less(each, values[top]) : each));
      return quotient(this.work.write(powers[j], null), this.work.write(powers.reduce(act.plus), null));
    }
    const ties = act.winners(values).every((won, k) => won === allowed[k]);
    this.exact = allowed[j] ? (ties ? rational(1n, BigInt(counted.length)) : null) : rational(0n);
    const powers = forms.map((form, k) => power(E, isShifted && allowed[k] ? sumOf(form, negative(forms[top])) : form));
    return quotient(powers[j], added(...powers));
  }

  /** 1 for the largest score, or its share where several are. */
  hardmax({ values }, j) {
    const won = this.A.of.winners(values), count = won.filter(Boolean).length;
    this.remark = !won[j] ? "another score is larger" : count > 1 ? `${count} scores share the first place` : "the largest score";
    return won[j] ? (count > 1 ? quotient(whole(1), whole(count)) : whole(1)) : ZERO;
  }

  /** The score over the sum of its row. */
  share({ forms, values }, j, isWorked) {
    if (values[j] === null) {
      this.remark = "a forbidden score counts as 0";
      return ZERO;
    }
    const total = added(...forms.filter((_, k) => values[k] !== null));
    if (!isWorked) return quotient(forms[j], total);
    this.isWorked = true;
    return quotient(forms[j], this.work.write(values.filter((each) => each !== null).reduce(this.A.of.plus), total.exact));
  }
}

// ---------------------------------------------------------------- a solution

class DividedByZero extends Error {}

/** Whether a form is a quotient, one times a gain, plus a bias, or a product by a difference. */
function hasQuotient(form) {
  if (form.is === "sum") return hasQuotient(form.terms[0]);
  if (form.is !== "product") return form.is === "quotient";
  const last = form.factors.at(-1), [first, second] = last.is === "sum" && last.terms.length === 2 ? last.terms : [];
  return hasQuotient(last) || (first?.is === "number" && second.is === "negative" && second.term.is === "number");
}

/** The value of written numbers; null for other expressions. */
function valueOfDigits(form) {
  if (form.is === "number") {
    if (!/^-*[0-9.]+$/.test(form.text)) return null;
    const { n, d } = readNumber(form.text), tens = Math.max(-5000, Math.min(5000, Number(form.tens)));
    return tens < 0 ? ratio(n, d * tenTo(-tens)) : ratio(n * tenTo(tens), d);
  }
  if (form.is === "ratio") return form.exact;
  if (form.is === "negative") { const value = valueOfDigits(form.term); return value && ratio(-value.n, value.d); }
  const parts = form.is === "quotient" ? [form.top, form.bottom] : form.terms ?? form.factors ?? [];
  const values = parts.map(valueOfDigits), [a, b] = values;
  if (!values.length || !values.every(Boolean)) return null;
  if (form.is === "sum") return values.reduce((x, y) => ratio(x.n * y.d + y.n * x.d, x.d * y.d));
  if (form.is === "product") return values.reduce((x, y) => ratio(x.n * y.n, x.d * y.d));
  if (!b.n && a.n) throw new DividedByZero();
  return b.n ? ratio((b.n < 0n ? -a.n : a.n) * b.d, a.d * size(b.n)) : null; // of 0 / 0 no more digits help
}

/** Whether written numbers give an exact result: 5 · 0.46 is not 2.31. */
function gives(form, result) {
  try {
    const value = valueOfDigits(form), exactly = valueOfDigits(result);
    return !value || !exactly || isSame(value, exactly);
  } catch (error) {
    if (error instanceof DividedByZero) return true;
    throw error;
  }
}

/** A number to so many significant digits, however small or large it is. */
function firstDigits(x, digits) {
  if (isRational(x) || Math.abs(x.e) < FAR) return significant(asRatio(x), digits);
  const w = 512, exponent = ln(size(x.n), 1n, w) + BigInt(x.e) * ln(2n, 1n, w);
  return significant({ exponent: { n: exponent, d: 1n << BigInt(w) }, below: rational(x.n < 0n ? -1n : 1n) }, digits);
}

export class Work {
  /**
   * The written-out work of a solution.
   *
   * @param solution as solve.js has it
   * @param fractions how rational numbers are written: null for decimals, "plain" or "mixed"
   */
  constructor(solution, fractions = null) {
    const { data, rules } = solution, { decimals, rounding, layout } = data.settings;
    Object.assign(this, { solution, fractions, decimals, guard: rules.guard, more: 0 });
    Object.assign(this, { isEachStep: rounding === "each-step", byColumns: layout === "columns", found: new Map() });
  }

  /** What was found once: each entry is read by many others. */
  held(key, find) {
    if (!this.found.has(key)) this.found.set(key, find());
    return this.found.get(key);
  }

  writer(name) {
    return this.held(`writer ${name}`, () => new Writer(this, this.solution.steps[name].worked));
  }

  /** The line of the k-th entry of a step: its forms, its shown result, and a remark. */
  line(name, k) {
    const { forms: all, remark, exact } = this.explanation(name, k), result = this.shown(name, k);
    const value = result === MINUS_INFINITY ? null : result.exact ?? readNumber(result.text);
    const isExact = value === null || isSame(exact, value), forms = [...all];
    if (this.fractions && exact && !isExact && this.isRational(name)) forms.push(this.own(exact));
    const last = forms.at(-1), isDigits = ["number", "ratio"].includes(last.is) && last.is === result.is;
    const isSaid = (isDigits && (last.is === "ratio" ? isSame(last.exact, result.exact) : last.text === result.text && !last.tens))
      || (["number", "ratio"].includes(last.is) && isExact && last.exact !== null && isSame(last.exact, value));
    if (isSaid) forms.pop();
    const isGiven = isExact && (value === null || !forms.length || gives(forms.at(-1), result));
    return { entry: this.entry(name, k), forms, result, isExact: isGiven, remark, hidden: this.hidden(name, k) };
  }

  /** The line as --work writes it, its remark in the words of a language. */
  text(name, k, said = (words) => words) {
    const { entry, forms, result, isExact, remark, hidden } = this.line(name, k);
    const parts = [written(entry), ...forms.map((form) => `= ${written(form)}`), `${isExact ? "=" : "≈"} ${written(result)}${hidden ? "†" : ""}`];
    return parts.join(" ") + (remark ? `   (${said(remark)})` : "");
  }

  entry(name, k) {
    const place = placeOf(this.solution.carried[name].shape, k);
    if (this.byColumns && this.solution.data.given[name]?.role !== "image") place.push(...place.splice(-2).reverse());
    return indexed(name, place);
  }

  /** An entry of a step as it is shown: its decimals, or the fraction that it is. */
  shown(name, k) {
    const digits = this.solution.steps[name].worked.digits[k];
    if (digits === -Infinity) return MINUS_INFINITY;
    const text = shownText(digits, this.decimals);
    if (this.fractions && this.isRational(name)) {
      const exact = this.exactly(name, k);
      if (exact && (!this.isEachStep || isSame(exact, readNumber(text)))) return this.own(exact);
    }
    return number(text);
  }

  /** The fraction that an entry of a matrix of fractions is: without its work, where it is at hand. */
  exactly(name, k) {
    const x = this.solution.steps[name].worked.exactAt(k);
    return x && isRational(x) ? ratio(x.n, x.d) : this.explanation(name, k).exact;
  }

  /** What an entry is that is shown as 0.00 and is not 0. */
  hidden(name, k) {
    const { worked } = this.solution.steps[name];
    if (worked.digits[k] !== 0) return null;
    const shown = this.shown(name, k);
    if (shown.is === "ratio" || shown.exact) return null;
    const x = worked.exactAt(k);
    return x.n === 0n || (!isWeight(worked) && isDust(x)) ? null : firstDigits(x, FOOTNOTE_DIGITS);
  }

  /** Whether there is such a number, without its digits if doubles decide. */
  isHidden(name, k) {
    const { worked } = this.solution.steps[name];
    if (worked.digits[k] !== 0) return false;
    const { v, e } = worked.matrix.near, least = isWeight(worked) ? 0 : 2 / Number(DUST);
    return (!this.fractions && Math.abs(v[k]) - (e?.[k] ?? 0) > least) || this.hidden(name, k) !== null;
  }

  /** Whether a matrix is that of a step, and none that is given. */
  isMade(name) {
    return name in this.solution.steps && !Object.hasOwn(this.solution.data.given, name);
  }

  /** An entry as the next step reads it. */
  read(name, k, matrix) {
    if (name in this.solution.carried) this.reads?.push({ name, k });
    if (!this.isMade(name)) {
      const power2 = /^2\^-(.+)$/.exec(matrix().typed?.[k] ?? ""), value = matrix().exactAt(k);
      if (power2) return isRational(value) ? fraction(value) : power(whole(2), given(readNumber(`-${power2[1]}`)));
      return value ? this.own(ratio(value.n, value.d)) : MINUS_INFINITY;
    }
    const shown = this.shown(name, k);
    if (shown.is !== "number" || shown === MINUS_INFINITY) return shown;
    return { ...shown, exact: this.isEachStep ? shown.exact ?? readNumber(shown.text) : this.explanation(name, k).exact };
  }

  explanation(name, k) {
    return this.held(`${name} ${k}`, () => this.explain(name, k));
  }

  /** Which entries an entry is computed from, in the order of its line, each once. */
  readFor(name, k) {
    const reads = (this.reads = []);
    this.explainIn(name, k, 0);
    this.reads = null;
    const seen = new Set();
    return reads.filter((read) => { const key = `${read.name} ${read.k}`; return !seen.has(key) && seen.add(key); });
  }

  explainIn(name, k, more) {
    const writer = this.writer(name), before = this.more;
    writer.program.goTo(k);
    Object.assign(writer, { remark: "", exact: null });
    this.more = more;
    const { forms, exact } = writer.explain();
    this.more = before;
    return { forms, exact, remark: writer.remark };
  }

  explain(name, k) {
    // rounded numbers may have another result: more digits are needed
    const first = this.explainIn(name, k, 0);
    let found = first;
    for (let more = 1; !this.comesOut(found.forms.at(-1), name, k); more += 1) {
      if (more === MOST_MORE_DIGITS) { found = first; break; } // its inputs were rounded, too
      found = this.explainIn(name, k, more);
    }
    return this.byColumns ? { ...found, forms: found.forms.map(turnedRound) } : found;
  }

  comesOut(form, name, k) {
    if (!this.isEachStep && !hasQuotient(form)) return true;
    try {
      const value = valueOfDigits(form);
      return !value || halfAway(value.n * tenTo(this.decimals), value.d) === BigInt(this.solution.steps[name].worked.digits[k]);
    } catch (error) {
      if (error instanceof DividedByZero) return false; // a root that shows as 0.00
      throw error;
    }
  }

  /** A number of the person's own. */
  own(value) {
    return this.fractions ? { ...fraction(value), ...(this.fractions === "mixed" ? { isMixed: true } : {}) } : given(value);
  }

  /** A number that was computed on the way, at the shown decimals or some more. */
  write(x, exact) {
    if (this.fractions && exact) return this.own(exact);
    const decimals = this.decimals + this.more, most = magnitude(x);
    const isTiny = x.n !== 0n && (most < -4 * decimals - 8 || 2n * size(asRatio(x).n) * tenTo(decimals) < asRatio(x).d);
    if (isTiny || most > 64 || size(asRatio(x).n) >= LARGEST_WRITTEN * asRatio(x).d) return firstDigits(x, Math.max(decimals + 1, 3));
    return number(pointed(roundedTo(x, decimals, this.guard), decimals), exact);
  }

  /** Whether a matrix contains fractions: no root, power of e or rounding precedes. */
  isRational(name) {
    if (!this.isMade(name)) return true;
    const { rational: keeps, inputs } = this.solution.steps[name].worked.step;
    return this.held(`rational ${name}`, () => keeps && Object.values(inputs).every((each) => this.isRational(each) && this.isUnrounded(each)));
  }
  isUnrounded(name) {
    if (!this.isEachStep || !this.isMade(name)) return true;
    return this.held(`unrounded ${name}`, () => this.solution.steps[name].worked.digits.every((each, k) => each === -Infinity || this.shown(name, k).exact));
  }
}
