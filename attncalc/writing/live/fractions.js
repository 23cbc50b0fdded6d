// A page in fractions: numbers of the person's own are written as 5/2, not as 2.5.

import { fraction } from "./expressions.js";

export const ownNumber = (value) => fraction(value);
