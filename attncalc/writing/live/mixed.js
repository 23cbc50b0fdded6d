// A page in mixed numbers: 5/2 is written as 2 1/2.

import { WRITERS, fraction } from "./expressions.js";
import { size } from "./numbers.js";

export const ownNumber = (value) => ({ ...fraction(value), isMixed: true });

const inLowestTerms = WRITERS.ratio;

/** The whole part stands in front, where there is one. */
function parted({ n, d }) {
  const most = size(n);
  return `${n < 0n ? "-" : ""}${most / d} ${most % d}/${d}`;
}

WRITERS.ratio = (it) => (it.isMixed && size(it.exact.n) > it.exact.d ? parted(it.exact) : inLowestTerms(it));
