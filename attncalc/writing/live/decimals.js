// The decimal sign of typed and shown numbers.

/** A number with a point in place of a comma, as attncalc check reads it. */
export const withPoint = (text) => text.trim().replace(/^([^.,]*),([^.,]*)$/, "$1.$2");

/** Text whose numbers have a comma in place of a point. */
export const withComma = (text) => text.replace(/(\d)\.(?=\d)/g, "$1,");
