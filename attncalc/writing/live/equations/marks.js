// Marks of typed answers: a shorter `attncalc check`, like grading/walk and grading/digits.
//
// Each step is compared with the key, and with the ranges that earlier typed values allow.
// If the mark depends on rounding within a step or on causes, which only check finds,
// an entry has several possible marks; if they disagree, it is "undecided". Also if the last bits
// of doubles, which differ from check's, decide whether a number is exact, or two ranges are the same.

import { withPoint } from "../decimals.js";
import { Refusal, readNumber } from "../numbers.js";
import { toDouble } from "./exact.js";
import { some } from "./parse.js";
import { reach } from "./ranges.js";
import { shownText, sidesOf, solve } from "./solve.js";

const RULES = ["half-away", "half-even", "truncate"], ROUNDINGS = ["display", "each-step"];
const DUST = 1e-6, RELATIVE_DUST = 1e-13, LARGEST_CUT = 1 - 1e-9, MOST_CUT = 50, FLOATS = 4e-13, SCRIPTS = 1e-12; // as in grading/slack
const FAR = 0.025, SURE = 3, SMALLEST_CUT_SHORT = 10, FEWEST_DIGITS = 3, MOST_DIGITS = 5, ON_A_DISPLAY = 4, LARGEST_SCORE = 30; // as in grading/walk, digits and arranging
const MARKS = ["correct", "rounding", "follows", "matches-key", "precision", "wrong"];
const CORRECT = 1, ROUNDING = 2, FOLLOWS = 4, MATCHES_KEY = 8, PRECISION = 16, WRONG = 32, ODD = MATCHES_KEY | PRECISION; // sets of marks are sums

// ---------------------------------------------------------------- numbers as people write them

/** A double at so many decimals; a value next to a tie is one. */
function cut(v, decimals, rule) {
  const unit = 10 ** decimals, scaled = Math.abs(v) * unit, whole = Math.floor(scaled), rest = scaled - whole;
  if (!(scaled < 2 ** 52)) return v;
  const tie = Math.min((rule === "truncate" ? 5e-11 : 1e-12) * scaled, 1e-4);
  const isUp = rule === "truncate" ? rest >= 1 - tie : rest > 0.5 + tie || (rest >= 0.5 - tie && (rule === "half-away" || whole % 2 === 1));
  return Math.sign(v) * ((whole + isUp) / unit) + 0;
}

/** What attncalc check reads as a blank. */
const BLANK = /^([_\s.…?]*|-{1,3}|[–—]|[□▢☐]+)$/;

/** A typed number: its kind, its value, and its number of decimals. */
export function readAnswer(text) {
  if (BLANK.test(text)) return { kind: "blank", decimals: 0 };
  if (/^[-−]\s*(inf|∞|infinity)$/i.test(text.trim())) return { v: -Infinity, decimals: 0 };
  const clean = withPoint(text), point = /\.([0-9]*)$/.exec(clean), isPlain = /^[-+−]?[0-9]*\.?[0-9]*$/.test(clean);
  try {
    const v = isPlain ? Number(clean.replace("−", "-")) : toDouble(readNumber(clean))[0];
    readNumber(clean);
    return { v, decimals: isPlain ? (point ? point[1].length : 0) : 99 };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: "unreadable", decimals: 0 };
  }
}

/** The answers of one step; whole numbers are exact, except large ones in a matrix without decimals. */
function readAnswers(texts, asked) {
  const all = Array.from(texts, (text) => readAnswer(text ?? "")), hasDecimals = all.some(({ v, decimals }) => Number.isFinite(v) && decimals > 0);
  return all.map((each) => (!each.decimals && (hasDecimals || Math.abs(each.v) < SMALLEST_CUT_SHORT) ? { ...each, decimals: asked } : each));
}

/** Whether a number replaces -∞: it is far below all others. */
function standsForInfinity(v, k, right) {
  if (right[k] !== -Infinity) return false;
  return v <= Math.min(-1e4, -10 * right.reduce((most, each) => (Number.isFinite(each) ? Math.max(most, Math.abs(each)) : most), 0));
}

/** The unit of the last of so many significant digits; 0 for any number of digits. */
const unitOf = (v, digits) => (digits && v && Number.isFinite(v) ? 10 ** (Math.floor(Math.log10(Math.abs(v))) + 1 - digits) : 0);
const significant = (v, decimals) => Math.abs(v).toFixed(decimals).replace(".", "").replace(/^0+|0+$/g, "").length;

function roundDigits(v, digits) {
  const unit = unitOf(v, digits);
  return unit ? Math.sign(v) * Math.floor(Math.abs(v) / unit + 0.5 + DUST) * unit : v;
}

/** Whether a value in a range may be written as this number; `dust` scales the error of floats. */
function isNear({ v }, decimals, { low: lows, high: highs }, k, { cuts, asked, digits }, dust) {
  if (v === -Infinity || highs[k] === -Infinity) return (v === lows[k] && v === highs[k]) || standsForInfinity(v, k, highs);
  const low = Math.min(lows[k], roundDigits(lows[k], digits)), high = Math.max(highs[k], roundDigits(highs[k], digits));
  const unit = Math.max(10 ** -Math.min(decimals, asked), unitOf(v, digits)), half = unit / 2 + dust * (DUST * unit + RELATIVE_DUST * Math.abs(v));
  const inwards = cuts ? unit * (1 - (1 - LARGEST_CUT) / dust) + (dust - 1) * FLOATS * Math.abs(v) : half;
  return v >= low - (low > 0 ? inwards : half) && v <= high + (high < 0 ? inwards : half);
}

/** The ranges of the true values of written numbers. */
function behind(points, decimals, { cuts, digits }) {
  const unit = decimals.map((each, k) => (each > MOST_CUT ? 0 : Math.max(10 ** -each, unitOf(points[k], digits)))), at = (side) => points.map((v, k) => v + (cuts ? (v * side >= 0 ? side : 0) : side / 2) * unit[k]);
  return { low: at(-1), high: at(1) };
}

const put = (row, where, other) => row.map((v, k) => (where[k] ? other[k] : v));
const putIn = (range, where, other) => ({ low: put(range.low, where, other.low), high: put(range.high, where, other.high) });
const middle = ({ low, high }) => low.map((v, k) => (v === high[k] ? v : (v + high[k]) / 2));

// ---------------------------------------------------------------- the key

class Key {
  constructor(solution) {
    const { data, rules: { decimals }, rounding } = solution;
    Object.assign(this, { solution, asked: decimals, steps: {}, shown: {}, ranges: [{}, {}], isExact: [{}, {}], scripts: [] });
    for (const [name, { worked }] of Object.entries(solution.steps)) if (!Object.hasOwn(data.given, name)) this.steps[name] = worked;
    const exact = this.values(solution), carried = rounding === "display" ? exact : this.otherwise() ?? exact;
    [this.exact, this.carried] = [exact, carried].map((all) => Object.fromEntries(Object.entries(all).map(([name, { v }]) => [name, v])));
    for (const [name, { digits }] of Object.entries(this.steps)) {
      const shown = this.shown[name] = Float64Array.from(digits, (each) => (each === -Infinity ? each : Number(shownText(each, decimals))));
      const { v: values, e } = carried[name], around = behind(shown, Array.from(shown, () => decimals), {});
      for (const doubts of [0, 1]) { // whether possibly inexact values are exact
        const isExact = (v, k) => Math.abs(v - values[k]) + (doubts ? 1 : -1) * (e?.[k] ?? 0) <= RELATIVE_DUST * Math.abs(v);
        this.isExact[doubts][name] = Array.from(shown, (v, k) => !Number.isFinite(v) || isExact(v, k));
        this.ranges[doubts][name] = putIn(around, this.isExact[doubts][name], { low: shown, high: shown });
      }
    }
    for (const style of ROUNDINGS) for (const rule of RULES) this.scripts.push({ rule, shown: style === rounding && rule === RULES[0] ? this.shown : this.script(style, rule) });
  }

  values({ steps }) {
    return Object.fromEntries(Object.keys(this.steps).map((name) => [name, steps[name].worked.matrix.near]));
  }

  /** The values with full precision, for a key that rounds each step. */
  otherwise() {
    const { data } = this.solution;
    try {
      return this.values(solve({ ...data, settings: { ...data.settings, rounding: "display" } }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return null;
    }
  }

  /** The steps of a flawless answer with another rounding; {} if there is none. */
  script(style, rule) {
    const made = {}, cutAll = (row) => row.map((v) => cut(v, this.asked, rule)), read = (name) => ({ low: made[name], high: made[name] });
    for (const name of Object.keys(this.steps)) {
      made[name] = cutAll(style === "display" ? this.carried[name] : middle(this.reach(name, read, true, {}, () => null, ([low, high]) => Array(2).fill(cut(low === high ? low : (low + high) / 2, this.asked, rule)))));
      if (made[name].some((v, k) => !Number.isFinite(v) && v !== this.shown[name][k])) return {}; // check refuses a divisor of 0
    }
    return made;
  }

  /**
   * The range of a step; `read` returns the ranges of steps, and `doubtful` the weights that may not sum to 1.
   *
   * For a recurrence, `readRows` returns those of earlier rows, or null if they are computed and rounded by `carried`.
   *
   * check has tighter bounds for some right values: between the tight and the other bounds here.
   */
  reach(name, read, isTight, doubtful = {}, readRows = read, carried = undefined) {
    const { step, world, equation } = this.steps[name], isStep = (title) => Object.hasOwn(this.steps, step.inputs[title] ?? "");
    const { right } = equation, isMean = right.is === "sum" && right.parts[0].is === "*";
    const matrix = (title) => {
      if (step.rows?.[title]) return readRows(step.rows[title]);
      const each = step.inputs[title], shape = world.shape(title), { v } = isStep(title) ? {} : world.matrix(title).near;
      if (v) return { shape, low: v, high: v };
      const { low, high } = read(each), isPositive = isTight && title === "var", isSure = isTight ? !doubtful[each]?.surely : !doubtful[each];
      const shares = this.isOfShares(each) && isSure && (isMean || isTight), clipped = (end) => (isPositive ? end.map((x) => Math.max(0, x)) : end);
      return { shape, low: clipped(low), high: clipped(high), shares };
    };
    return reach(equation, { ...world, integers: (title) => (isStep(title) ? null : world.integers(title)) }, matrix, carried);
  }

  /** Whether a step makes weights of one sign that sum to 1. */
  isOfShares(name) {
    const { right } = this.steps[name].equation;
    return right.is === "row" && right.name !== "share" && right.parts.length === 3;
  }

  /** Whether check may accept numbers that were rounded within a step: powers of e, √d_k, factors, sums of rows. */
  mayBeRounded(name) {
    const { right, taught } = this.steps[name].equation;
    return taught.length > 0 || some(right, (x) => x.is === "row") || this.factorsOf(name).length > 0;
  }

  /** What √d_k or a factor may be written as, to few decimals, where a step does nothing but scale. */
  factorsOf(name) {
    const { world, equation: { right } } = this.steps[name], [entry, factor] = right.parts;
    if (!["*", "/"].includes(right.is) || entry.is !== "entry" || some(factor, (x) => x.is === "entry")) return [];
    const isRoot = factor.is === "call" && factor.name === "sqrt", { n, d } = world.setting((isRoot ? factor.parts[0] : factor).name);
    const number = isRoot ? Math.sqrt(Number(n) / Number(d)) : Number(n) / Number(d), places = [2, 3, 4].flatMap((decimals) => [RULES[0], RULES[2]].map((rule) => (v) => cut(v, decimals, rule)));
    const written = (value) => places.map((act) => act(value)).filter((v) => v && Math.abs(v - value) > 1e-12);
    return right.is === "*" ? written(number) : [...written(number).map((v) => 1 / v), ...written(1 / number)];
  }
}

// ---------------------------------------------------------------- results of an answer

class Known {
  constructor(key, points = {}, ranges = {}, doubtful = {}) {
    Object.assign(this, { key, points, ranges, doubtful, kept: {} });
  }

  keep(name, points, range) {
    [this.points[name], this.ranges[name], this.kept] = [points, range, {}];
  }

  /** The omitted steps before this one, back to the written ones. */
  missing(name, found = new Set()) {
    for (const each of Object.values(this.key.steps[name].step.inputs))
      if (Object.hasOwn(this.key.steps, each) && !this.points[each] && !found.has(each)) this.missing(each, found.add(each));
    return [...found];
  }

  /** The range of a step: from unrounded values (no rule), or as written, with omitted steps rounded by a rule. */
  result(name, rule, isTight) {
    const read = (each) => this.read(each, rule, isTight), readRows = (each) => (this.points[each] ? read(each) : null);
    return (this.kept[`${name} ${rule} ${isTight}`] ??= this.key.reach(name, read, isTight, this.doubtful, readRows));
  }

  read(name, rule, isTight) {
    if (this.points[name]) return rule ? { low: this.points[name], high: this.points[name] } : this.ranges[name];
    const made = this.result(name, rule, isTight);
    if (!rule) return made;
    const points = middle(made).map((v) => cut(v, this.key.asked, rule));
    return { low: points, high: points };
  }

  /** Which numbers follow: true, false, or null if undecided. */
  fits(name, answers, decimals, slack) {
    const rules = [null, ...(this.missing(name).length ? RULES : RULES.slice(0, 1))];
    const [tight, loose] = [true, false].map((isTight) => rules.map((rule) => this.result(name, rule, isTight)));
    return answers.map((answer, k) => isWithin(answer, decimals[k], tight, loose, k, slack));
  }

  /** The same with the written rows that a recurrence reads, also of later steps. */
  withRows(rows, script, slack, right) {
    const { key } = this, points = { ...this.points }, ranges = { ...this.ranges };
    for (const name of Object.values(rows).filter((each) => script[each] && !points[each])) {
      const answers = script[name], isBlank = answers.map(({ kind }) => Boolean(kind));
      points[name] = answers.map(({ v }, k) => (isBlank[k] ? key.shown[name][k] : v));
      ranges[name] = putIn(behind(points[name], answers.map(({ decimals }) => Math.max(decimals ?? 0, slack.asked)), slack), isBlank, right[name]);
    }
    return new Known(key, points, ranges, this.doubtful);
  }

  /** The same with the key's values in place of wrong ones. */
  mended(tainted, right) {
    const { key } = this, points = { ...this.points }, ranges = { ...this.ranges };
    for (const [name, where] of Object.entries(tainted)) {
      points[name] = put(points[name], where, key.shown[name]);
      ranges[name] = putIn(ranges[name], where, right[name]);
    }
    return new Known(key, points, ranges, this.doubtful);
  }
}

function isWithin(answer, decimals, tight, loose, k, slack) {
  if (tight.some((range) => isNear(answer, decimals, range, k, slack, 0.5))) return true;
  return loose.some((range) => isNear(answer, decimals, range, k, slack, 2)) ? null : false;
}

// ---------------------------------------------------------------- marks

const either = (known) => (known === null ? [true, false] : [known]);

/**
 * Mark an answer as rounded or truncated: the possible marks of each entry.
 *
 * `doubts` counts undecided entries as mistakes; `dusty`, 0 or 1, counts differences within float errors.
 */
function walk(key, script, { cuts, digits }, doubts, dusty) {
  const dust = DUST * 10 ** -key.asked, areApart = (a, b, counts) => a !== b && (counts || !(Math.abs(a - b) <= dust));
  const unsure = digits ? Object.keys(key.steps).map((name) => [name, { surely: true }]) : [];
  const kept = new Known(key, {}, {}, Object.fromEntries(unsure)), slack = { cuts, digits, asked: key.asked }, tainted = {}, found = {};
  for (const name of Object.keys(key.steps)) if (script[name]) found[name] = marksOf(name);
  return found;

  function marksOf(name) {
    const answers = script[name], { rows } = key.steps[name].step, isAfter = Object.values(tainted).some((where) => where.includes(true)), isMistaken = isAfter || Boolean(rows);
    const clean = isAfter ? kept.mended(tainted, key.ranges[dusty]) : kept, known = rows ? kept.withRows(rows, script, slack, key.ranges[dusty]) : kept, coarse = answers.map(({ decimals }) => decimals), fine = coarse.map((each) => Math.max(each, key.asked));
    const own = known.result(name, null, true), right = clean.result(name, null, true), [same, differ] = [false, true].map((counts) => answers.map((_, k) => areApart(own.low[k], right.low[k], counts) || areApart(own.high[k], right.high[k], counts)));
    const differs = dusty ? differ : same;
    const fitsClean = clean.fits(name, answers, fine, slack), fits = isMistaken ? known.fits(name, answers, fine, slack) : fitsClean;
    const fitsCoarsely = coarse.every((each, k) => each === fine[k]) ? fits : known.fits(name, answers, coarse, slack);
    const [tight, loose] = [true, false].map((isTight) => key.reach(name, (each) => key.ranges[dusty][each], isTight));
    const judged = besideKey(key, name, answers, slack), marks = answers.map((answer, k) => {
      if (answer.kind) return 0;
      const [beside, isCoarse] = judged[k];
      if (!(beside & WRONG) && !isMistaken) return beside;
      let all = 0;
      for (const isClean of either(fitsClean[k])) for (const isOwn of isMistaken ? either(fits[k]) : [isClean]) for (const isShort of coarse[k] === fine[k] ? [isOwn] : either(fitsCoarsely[k])) for (const isOther of new Set([same[k], differ[k]])) {
        if (beside & ~WRONG) all |= isShort ? beside & ~WRONG : MATCHES_KEY;
        if (!(beside & WRONG)) continue;
        if (isOwn && (isOther || !isClean)) all |= FOLLOWS;
        else if (isClean) all |= ROUNDING;
        else for (const isReached of either(isWithin(answer, fine[k], [tight], [loose], k, slack)))
          all |= isReached ? (isOther ? MATCHES_KEY : ROUNDING) : isCoarse || isShort ? PRECISION : WRONG;
      }
      return all;
    });
    const mayBe = mayBeAccepted(known, name, answers, marks, fine);
    marks.forEach((all, k) => { if (all & (WRONG | PRECISION) && mayBe(k)) marks[k] |= differs[k] ? FOLLOWS : ROUNDING; });
    keep(known, name, answers, marks, differs, fine, clean);
    return marks;
  }

  /** Which entries check may accept as rounded within the step, or an omitted step. */
  function mayBeAccepted(known, name, answers, marks, fine) {
    if (!marks.some((all) => all & WRONG) || isFar(known, name, answers, marks)) return () => false;
    if (known.missing(name).some((each) => key.mayBeRounded(each))) return () => true;
    const factors = key.factorsOf(name), [scores] = Object.values(key.steps[name].step.inputs);
    if (!factors.length) return () => key.mayBeRounded(name);
    const ends = [known.read(scores, null, false), ...(known.missing(name).length ? RULES : RULES.slice(0, 1)).map((rule) => known.read(scores, rule, false))];
    const ranges = ends.flatMap(({ low, high }) => factors.map((by) => ({ low: (by < 0 ? high : low).map((v) => v * by), high: (by < 0 ? low : high).map((v) => v * by) })));
    return (k) => ranges.some((range) => isNear(answers[k], fine[k], range, k, { ...slack, asked: 9 }, 2));
  }

  /** Whether errors are certainly larger than rounding within a step explains. */
  function isFar(known, name, answers, marks) {
    const { low, high } = known.result(name, null, false), unit = 10 ** -key.asked;
    const largest = low.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most), 1);
    const isWeights = key.steps[name].step.role === "weights", room = isWeights ? FAR + unit : 2 * (FAR + unit) * largest, more = isWeights && key.isOfShares(name) ? ofSmallPowers(known, name, unit) : () => 0;
    const far = answers.filter(({ v }, k) => marks[k] === WRONG && (v < low[k] - room - more(k) || v > high[k] + room + more(k))).length;
    return far > (marks.filter((all) => all & WRONG).length > 2 ? 1 : 0);
  }

  /** Small powers of e lose most of their digits. */
  function ofSmallPowers(known, name, unit) {
    const scores = known.read(Object.values(key.steps[name].step.inputs)[0], null, false).low, count = sidesOf(key.steps[name].matrix)[2], sums = [];
    scores.forEach((s, k) => (sums[Math.floor(k / count)] = (sums[Math.floor(k / count)] ?? 0) + Math.exp(Math.min(s, LARGEST_SCORE))));
    return (k) => (unit * (count + 1)) / Math.max(sums[Math.floor(k / count)], unit);
  }

  /** Store a step for later ones: computed values replace blanks. */
  function keep(known, name, answers, marks, differs, fine, clean) {
    const shown = key.shown[name], is = (all, what) => all !== 0 && ((all & ~what) === 0 || (doubts && (all & what) !== 0));
    const [own, right] = [known, clean].map((each) => each.result(name, RULES[0], true).low);
    const isBlank = answers.map(({ kind }) => Boolean(kind)), follows = isBlank.map((blank, k) => blank && clean !== known && areApart(own[k], right[k], dusty) && Number.isFinite(own[k]));
    const expected = shown.map((v, k) => (follows[k] ? cut(own[k], key.asked, cuts ? "truncate" : RULES[0]) : v));
    const points = shown.map((_, k) => (isBlank[k] ? expected[k] : standsForInfinity(answers[k].v, k, shown) ? -Infinity : answers[k].v));
    const decimals = answers.map((each, k) => (is(marks[k], PRECISION) ? each.decimals : fine[k]));
    const around = putIn(behind(points, decimals, slack), isBlank, key.ranges[dusty][name]);
    const range = putIn(around, points.map((v, k) => isBlank[k] && v !== shown[k]), known.result(name, null, true));
    const exactly = answers.map((_, k) => points[k] === -Infinity || (key.isExact[dusty][name][k] && points[k] === shown[k] && !differs[k]));
    kept.keep(name, points, putIn(range, exactly, { low: points, high: points }));
    const odd = WRONG | PRECISION | MATCHES_KEY;
    if (marks.some((all) => all & odd)) kept.doubtful[name] = { surely: marks.some((all) => all !== 0 && (all & ~odd) === 0) };
    tainted[name] = marks.map((all, k) => differs[k] || is(all, WRONG | FOLLOWS));
  }
}

/** Judge a step beside the key: if one of its entries is right but for missing decimals, others of few decimals are not other roundings. */
function besideKey(key, name, answers, slack) {
  const judged = answers.map((answer, k) => (answer.kind ? [0, false] : entryBesideKey(key, name, answer, k, slack))), short = judged.filter(([marks, isShort]) => isShort && marks & WRONG);
  const others = short.some(([marks]) => marks === WRONG) ? 0 : ROUNDING;
  return short.length ? judged.map(([marks, isShort]) => [isShort && marks & ROUNDING ? (marks & others) | WRONG : marks, isShort]) : judged;
}

/** Judge an entry by the key's digits and those of other ways to round; and whether it is right but for missing decimals. */
function entryBesideKey(key, name, { v, decimals }, k, slack) {
  const right = key.shown[name][k], exact = key.exact[name][k];
  if (v === right || standsForInfinity(v, k, key.shown[name])) return [CORRECT, false];
  const isRounded = Number.isFinite(exact) && Math.abs(v - exact) <= (0.5 + DUST) * 10 ** -decimals + RELATIVE_DUST * Math.abs(exact);
  if (decimals > key.asked && isRounded) return [CORRECT, false];
  if (slack.digits && isNear({ v }, Math.max(decimals, key.asked), { low: key.exact[name], high: key.exact[name] }, k, slack, 1)) return [ROUNDING, decimals < key.asked && isRounded];
  const same = key.scripts.map(({ shown }) => Math.abs((shown[name]?.[k] ?? NaN) - v)), isShort = decimals < key.asked && isRounded;
  if (Number.isFinite(v) && same.includes(0)) return [10 ** -key.asked > SCRIPTS * Math.abs(v) ? ROUNDING : ROUNDING | WRONG, isShort];
  return [Number.isFinite(v) && same.some((off) => off <= SCRIPTS * Math.abs(v)) ? ROUNDING | WRONG : WRONG, isShort];
}

/** How many more entries only a flawless script has that cuts, than only one that rounds; steps that mostly follow from a mistake do not count. */
function cutEntries(key, script) {
  let count = 0;
  for (const [name, answers] of Object.entries(script)) {
    const [cuts, rounds] = [true, false].map((isCut) => answers.map(({ v }, k) => key.scripts.some(({ rule, shown }) => (rule === "truncate") === isCut && shown[name]?.[k] === v)));
    if (2 * answers.filter((_, k) => cuts[k] || rounds[k]).length <= answers.length) continue;
    answers.forEach(({ v }, k) => (count += v !== undefined && v !== Math.round(v) ? cuts[k] - rounds[k] : 0));
  }
  return count;
}

/** How many significant digits check may read an answer with; 0 for any. */
function digitsOf(key, script, likely) {
  if (!countsOf(likely, WRONG | PRECISION)[1]) return 0;
  const counts = Object.values(script).flat().filter(({ v, decimals }) => Number.isFinite(v) && decimals <= MOST_CUT).map(({ v, decimals }) => significant(v, decimals)), most = Math.max(FEWEST_DIGITS, ...counts);
  if (most > MOST_DIGITS) return 0;
  const isLonger = Object.keys(script).some((name) => key.shown[name].some((v) => Number.isFinite(v) && significant(v, key.asked) > most));
  return isLonger ? most : most <= ON_A_DISPLAY ? ON_A_DISPLAY : 0;
}

const keys = new WeakMap();

/**
 * The mark of each entry: correct, rounding, follows, matches-key, precision, wrong, undecided, blank or unreadable.
 *
 * @param solution as solve.js gives it
 * @param typed texts by step, row by row
 */
export function mark(solution, typed) {
  if (!keys.has(solution)) keys.set(solution, new Key(solution));
  const key = keys.get(solution), script = {};
  for (const name of Object.keys(key.steps)) if (typed[name]?.some((text) => text?.trim())) script[name] = readAnswers(typed[name], key.asked);
  const shown = cutEntries(key, script), read = (slack) => merged([0, 1].flatMap((dusty) => [false, true].map((doubts) => walk(key, script, slack, doubts, dusty))));
  const likely = read({ cuts: shown > 0 }), [fewest, most] = countsOf(likely, WRONG), mayRound = Object.keys(likely).some((name) => key.mayBeRounded(name) && likely[name].some((all) => all & WRONG));
  const readings = [likely];
  if (most && !(Math.abs(shown) >= SURE && !mayRound)) {
    const other = read({ cuts: shown <= 0 }), [least] = countsOf(other, WRONG);
    if (Math.abs(shown) >= SURE ? !least : least <= most) readings.push(other);
  }
  const digits = digitsOf(key, script, likely), few = digits ? read({ digits }) : null;
  if (few && (countsOf(few, WRONG)[0] < most || (countsOf(few, WRONG)[0] === most && (most || countsOf(few, ODD)[0] < countsOf(likely, ODD)[1])))) readings.push(few);
  const all = merged(readings);
  return Object.fromEntries(Object.keys(key.steps).map((name) => [name, script[name]
    ? script[name].map(({ kind }, k) => kind ?? said(all[name][k])) : Array.from(key.shown[name], () => "blank")]));
}

/** Which results of a step, each a range of every entry, give all written entries. */
export function explaining(solution, typed, results) {
  const { decimals: asked } = solution.rules, answers = readAnswers(typed, asked), slack = { cuts: false, asked: 9 };
  return results.filter((range) => answers.every((each, k) => each.kind || isNear(each, Math.max(each.decimals, asked), range, k, slack, 1)));
}

/** The reported mark among those that several interpretations allow. */
const said = (all) => MARKS.find((_, k) => all === 1 << k) ?? (all & ~(CORRECT | ROUNDING) ? "undecided" : "rounding");
const merged = ([first, ...others]) => Object.fromEntries(Object.entries(first).map(([name, marks]) => [name, marks.map((all, k) => others.reduce((one, each) => one | each[name][k], all))]));
/** How many entries are surely a mark, and how many may be. */
const countsOf = (found, what) => [(all) => all === what, (all) => (all & what) !== 0].map((is) => Object.values(found).flat().filter(is).length);
