// How every entry comes about where rational ones are written as the fractions that they are.

import { ownNumber } from "./expressions.js";
import { ratio, readNumber } from "./numbers.js";
import { Work as InDigits, areSame } from "./work.js";

/** Entries may differ whose digits are the same. */
export const areInDigits = false;

export class Work extends InDigits {
  /** The fraction that an entry is, or its digits. */
  shown(name, ...at) {
    const shown = super.shown(name, ...at);
    if (shown.text === "-∞" || !this.isRational(name)) return shown;
    const exact = this.exactly(name, ...at);
    const isSo = exact && (!this.isEachStep || areSame(exact, readNumber(shown.text)));
    return isSo ? ownNumber(exact) : shown;
  }

  /** The fraction that an entry of a matrix of fractions is. */
  exactly(name, ...at) {
    const { made } = this.solution.results[name];
    return made.isExact ? ratio(made.at(...at), made.d) : this.explanation(name, ...at).exact;
  }

  line(name, ...at) {
    const found = super.line(name, ...at), { exact } = this.explanation(name, ...at);
    if (!exact || found.isExact || !this.isRational(name)) return found;
    return { ...found, forms: [...found.forms, ownNumber(exact)] }; // it is rounded at once
  }

  hidden(name, ...at) {
    const found = super.hidden(name, ...at);
    return found && this.shown(name, ...at).exact ? null : found;
  }

  readStep(name, ...at) {
    const shown = this.shown(name, ...at);
    return shown.exact ? shown : super.readStep(name, ...at);
  }

  written(value, more, rational) {
    return rational ? ownNumber(rational) : super.written(value, more);
  }

  /** Whether a matrix holds fractions: no root, no power of e, no rounding before it. */
  isRational(name) {
    if (!this.isMade(name)) return true;
    const { rational, inputs } = this.steps[name];
    return this.held(name, () => rational && inputs.every((each) => this.isRational(each) && this.isUnrounded(each)));
  }

  isUnrounded(name) {
    return !this.isEachStep || !this.isMade(name) || this.held(`${name} `, () => this.areExact(name));
  }

  areExact(name) {
    const { r, rows } = this.solution.results[name].digits; // those of all heads
    return rows.every((row, i) => row.every((n, j) => n === null || this.shown(name, Math.floor(i / r), i % r, j).exact));
  }
}
