// Equations in index notation, S[i in n, j in m] = sum(Q[i,c] * K[j,c] for c in d), parsed into trees.
//
// A node is { is, parts } with a name, an index, a value or words where it has them:
// num, inf, name, entry, an operator, call, sum, max, row, if, mark (+x), why (a remark).
// Nothing is ever run.

import { readNumber } from "../numbers.js";

const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([^\W\d]\w*)|"([^"]*)"|(\*\*|\/\/|<=|>=|==|!=|[-+*/%<>()[\],=]))/uy;
const WORDS = ["or", "and", "not", "if", "else", "for", "in"];
export const COMPARISONS = ["<", "<=", "==", "!=", ">", ">="];
const LEVEL = { or: 2, and: 3, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7, "**": 9 };
for (const sign of COMPARISONS) LEVEL[sign] = 5;
const AGGREGATES = ["sum", "max"], ROWS = ["softmax", "hardmax", "share"];

export const node = (is, parts = [], more = {}) => ({ is, parts, ...more });
export const num = (n) => node("num", [], { value: { n: BigInt(n), d: 1n } });
export const name = (text) => node("name", [], { name: text });

function tokensOf(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim()) {
    const at = TOKEN.lastIndex, match = TOKEN.exec(text);
    if (!match) throw new SyntaxError(`unexpected "${text.slice(at).trim()[0]}" in ${text}`);
    const [, number, word, words, sign] = match;
    found.push({ number, word, words, sign: sign ?? (WORDS.includes(word) ? word : "") });
  }
  return found;
}

/** Parse one equation: { name, at, over, right, taught, text }. */
export function parse(text) {
  const tokens = tokensOf(text);
  let next = 0;
  const sign = () => tokens[next]?.sign ?? "";
  const fail = (problem) => { throw new SyntaxError(`${problem} in ${text}`); };
  const take = (wanted) => (sign() === wanted ? (next += 1) : fail(`expected "${wanted}"`));
  const takeIf = (wanted) => sign() === wanted && take(wanted);
  const word = () => {
    const found = tokens[next++];
    return found?.word && !found.sign ? found.word : fail("expected a name");
  };
  const listed = (end, item) => {
    const items = [];
    while (sign() !== end) {
      items.push(item());
      if (sign() !== end) take(",");
    }
    take(end);
    return items;
  };

  /** `for j in m if condition`, once or several times: the indices, outermost first. */
  function loops() {
    const found = [];
    while (takeIf("for")) {
      const index = word();
      take("in");
      const size = expression(1), where = takeIf("if") ? [expression(1)] : [];
      found.push({ index, size, where });
    }
    return found;
  }

  function call(title) {
    take("(");
    if (title === "why") return remark();
    const start = next;
    let isGrouped = ROWS.includes(title) && takeIf("("); // softmax((S[i,k] for k in m), sink[0,0])[j]
    let body = expression(0);
    if (isGrouped && sign() !== "for") {
      [next, isGrouped] = [start, false];
      body = expression(0);
    }
    const found = loops();
    if (isGrouped) take(")");
    if (!found.length) {
      takeIf(",");
      return node("call", [body, ...listed(")", () => expression(0))], { name: title });
    }
    if (ROWS.includes(title)) {
      const [{ index, size }] = found;
      takeIf(",");
      const beside = listed(")", () => expression(0));
      take("[");
      const at = expression(0);
      take("]");
      return node("row", [body, size, at, ...beside], { name: title, index });
    }
    if (!AGGREGATES.includes(title)) fail(`${title}(... for ...) is none of ${AGGREGATES.join(", ")}`);
    take(")");
    return found.reduceRight((inner, { index, size, where }) => node(title, [inner, size, ...where], { index }), body);
  }

  /** why(x, "row {i + 1}", condition). */
  function remark() {
    const body = expression(0);
    take(",");
    const words = tokens[next++]?.words ?? fail("expected the words of a remark");
    const where = takeIf(",") ? [expression(0)] : [];
    take(")");
    const said = words.split(/\{(.*?)\}/).map((part, k) => (k % 2 ? parseExpression(part) : part));
    return node("why", [body, ...where], { words: said.filter((part) => part !== "") });
  }

  function operand() {
    for (const [here, is, level] of [["-", "neg", 8], ["+", "mark", 8], ["not", "not", 4]])
      if (takeIf(here)) return node(is, [expression(level)]);
    if (takeIf("(")) {
      const inner = expression(0);
      take(")");
      return inner;
    }
    if (tokens[next]?.number) return node("num", [], { value: readNumber(tokens[next++].number) });
    const title = word();
    if (takeIf("[")) return node("entry", listed("]", () => expression(0)), { name: title });
    if (sign() === "(") return call(title);
    return title === "inf" ? node("inf") : name(title);
  }

  function expression(least) {
    let left = operand(), last = null;
    for (;;) {
      const op = sign(), level = LEVEL[op];
      if (op === "if" && least === 0) {
        take("if");
        const test = expression(1);
        take("else");
        left = node("if", [test, left, expression(0)]);
      } else if (level > least || (op === "**" && level >= least)) {
        take(op);
        const right = expression(op === "**" ? 8 : level); // 2 ** -x, and a ** b ** c from the right
        const isChained = level === LEVEL["<"] && last !== null; // a < b < c
        left = isChained ? node("and", [left, node(op, [last, right])]) : node(op, [left, right]);
        last = level === LEVEL["<"] ? right : null;
      } else return left;
    }
  }

  /** Forms of one value, `first == second`: the last is computed. */
  function forms() {
    const found = [expression(5)];
    while (takeIf("==")) found.push(expression(5));
    return sign() === "if" || LEVEL[sign()] ? null : found;
  }

  if (text.startsWith("=")) { // only an expression
    take("=");
    return { right: expression(0) };
  }
  const title = word(), over = [];
  take("[");
  const at = listed("]", () => {
    const index = word();
    over.push(takeIf("in") ? expression(0) : null);
    return index;
  });
  take("=");
  const start = next;
  let found = forms();
  if (!found) {
    next = start;
    found = [expression(0)];
  }
  if (next < tokens.length) fail("unexpected text at the end");
  return { name: title, at, over, right: found.at(-1), taught: found.slice(0, -1), text, group: [] };
}

export const parseExpression = (text) => parse(`=${text}`).right;

// ---------------------------------------------------------------- trees

export function* walk(x) {
  yield x;
  for (const part of x.parts) yield* walk(part);
}
export const some = (x, test) => test(x) || x.parts.some((part) => some(part, test));
export const rebuilt = (x, change) => (x.parts.length ? { ...x, parts: x.parts.map(change) } : x);
/** A tree with names replaced by trees, none of which has the index of a sum in it. */
export const replaced = (x, by) => (x.is === "name" ? by[x.name] ?? x : rebuilt(x, (part) => replaced(part, by)));
export const namesIn = (x) => new Set([...walk(x)].filter((y) => y.is === "name").map((y) => y.name));

/** Functions that others make up, as expressions of x. */
export const DEFINED = Object.fromEntries(Object.entries({
  relu: "max(x, 0)", Phi: "(1 + erf(x / sqrt(2))) / 2", phi: "exp(-x ** 2 / 2) / sqrt(2 * pi)",
  gelu: "x * Phi(x)", silu: "x / (1 + exp(-x))", sigmoid: "1 / (1 + exp(-x))",
}).map(([title, text]) => [title, parseExpression(text)]));

/** A tree with these functions written out. */
export function expanded(x) {
  if (x.is === "call" && DEFINED[x.name]) return expanded(replaced(DEFINED[x.name], { x: x.parts[0] }));
  const made = rebuilt(x, expanded);
  return made.parts.every((part, k) => part === x.parts[k]) ? x : made;
}
