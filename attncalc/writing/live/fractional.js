// How every entry comes about where rational ones are written as the fractions that they are.

import { ownNumber } from "./expressions.js";
import { readNumber } from "./numbers.js";
import { Work as InDigits, areSame } from "./work.js";

/** Entries may differ whose digits are the same. */
export const areInDigits = false;

export class Work extends InDigits {
  /** The fraction that an entry is, or its digits. */
  shown(name, ...at) {
    const shown = super.shown(name, ...at);
    if (shown.text === "-∞" || !this.isRational(name)) return shown;
    const { exact } = this.explanation(name, ...at);
    const isSo = exact && (!this.isEachStep || areSame(exact, readNumber(shown.text)));
    return isSo ? ownNumber(exact) : shown;
  }

  line(name, ...at) {
    const found = super.line(name, ...at), { exact } = this.explanation(name, ...at);
    if (!exact || found.isExact || !this.isRational(name)) return found;
    return { ...found, forms: [...found.forms, ownNumber(exact)] }; // it is rounded at once
  }

  hidden(name, ...at) {
    return this.shown(name, ...at).exact ? null : super.hidden(name, ...at);
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
    const { h, r, c } = this.matrix(name);
    for (let k = 0; k < (h || 1); k += 1)
      for (let i = 0; i < r; i += 1) for (let j = 0; j < c; j += 1) if (!this.line(name, k, i, j).isExact) return false;
    return true;
  }
}
