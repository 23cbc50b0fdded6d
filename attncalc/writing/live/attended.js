// What each output attends to, as values and in sentences.

import { connectionIn, listed, sentenceOf } from "./connections.js";
import { byColumns, data, problemNow, state } from "./edited.js";
import { own } from "./elements.js";
import { asRatio } from "./equations/exact.js";
import { plus, significant, written } from "./expressions.js";
import { shownText } from "./equations/solve.js";
import { asWritten, readNumber, tenTo } from "./numbers.js";
import { rowOf, shapeOf, solution, valuesOf, workedOf } from "./solved.js";

const look = data.look, line = byColumns ? "column" : "row";
const found = new WeakMap();

function connectionOf(name, h, i) {
  return connectionIn(rowOf(name, valuesOf(name), h, i), rowOf(name, workedOf(name).digits, h, i).map(BigInt));
}

/** The inputs that an output attends to most, and second; its weights as shown, and in full. */
export function connection(name, h, i) {
  const { matrix } = solution.steps[name], [, r] = shapeOf(name);
  if (!found.has(matrix)) found.set(matrix, []);
  return (found.get(matrix)[h * r + i] ??= connectionOf(name, h, i));
}

export function sentence(name, h, i) {
  const { inputs, outputs } = data.weights[name];
  return sentenceOf(outputs[i], inputs, connection(name, h, i), state.settings.decimals, look);
}

export const weightsTold = (name, h, i) => `Weights of output ${data.weights[name].named[i]}: `
  + connection(name, h, i).shown.map((n) => shownText(n, state.settings.decimals)).join(", ");

/** What a reader should know of weights: rows that sum to other than 1, and rows with nothing left. */
export function notesOf({ name, inputs, tables }, areWeights) {
  const reads = Object.values(inputs), [first] = reads, { decimals } = state.settings;
  if (name === "L_fell") return risen(name);
  if (name[0] === "L" && tables?.ids) { // a cross-entropy
    const { length } = tables.ids.entries, perplexity = Math.exp(valuesOf(name)[0] / length);
    return perplexity < 1e9 ? [`perplexity exp(${name} / ${length}) is ${shownText(Math.round(perplexity * 10 ** decimals), decimals)}`] : [];
  }
  if (!areWeights) return [];
  if (reads.includes(name)) return notesOfGiven(name); // given, and shown as a step
  const [heads, rows] = shapeOf(name), { outputs } = data.weights[name];
  const one = shownText(tenTo(decimals), decimals);
  const ofHeads = (says) => Array.from({ length: heads || 1 }, (_, h) =>
    Array.from({ length: rows }, (_unused, i) => says(h, i)).filter(Boolean));
  const hasSink = "sink" in inputs;
  const sums = hasSink ? [] : ofHeads((h, i) => {
    const { shown, full } = connection(name, h, i);
    const total = shown.reduce((a, b) => a + b, 0n);
    if (total === tenTo(decimals) || full.every((x) => x === 0)) return "";
    return `${line} ${outputs[i]} sums to ${shownText(total, decimals)}`;
  });
  const isMasked = own(data.given, first) || workedOf(first)?.step.role === "masked", scores = valuesOf(first);
  const empty = ofHeads((h, i) => {
    return isMasked && rowOf(first, scores, h, i).every((x) => x === -Infinity) && outputs[i];
  });
  const of = (h) => (heads ? ` in head ${h + 1}` : "");
  return [
    ...(hasSink ? [`the weights of a ${line} sum to less than 1: the rest goes to the sink`] : []),
    ...told(sums, (each, h) => `weights are rounded as shown, so${of(h)} ${listed(each, look)}, not ${one}`,
      (more) => `in ${more} more heads, too, weights as shown sum to other than ${one}`),
    ...told(empty, (each, h) => `output ${listed(each, look)}${of(h)}: no key is left to attend to, all weights are 0`,
      (more) => `in ${more} more heads, too, no key is left to some outputs`),
  ];
}

/** The same of weights that are given: they may sum to anything, and be below 0. */
function notesOfGiven(name) {
  const { shape: [heads, r, c], entries } = problemNow().given[name];
  const { outputs } = data.weights[name];
  const inShort = (total) => {
    const text = asWritten(total);
    return text.length <= 12 ? text : written(significant(total, 6));
  };
  const said = Array.from({ length: heads || 1 }, (_, h) => {
    const of = heads ? ` in head ${h + 1}` : "", sums = [], below = [];
    for (let i = 0; i < r; i += 1) {
      const row = entries.slice((h * r + i) * c, (h * r + i + 1) * c).map(readNumber), total = row.reduce(plus);
      if (total.n !== total.d) sums.push(`${line} ${outputs[i]} sums to ${inShort(total)}`);
      if (row.some(({ n }) => n < 0n)) below.push(`${line} ${outputs[i]}`);
    }
    return [
      sums.length && `weights as given need not sum to 1:${of} ${listed(sums, look)}`,
      below.length && `weights as given may be below 0, as in${of} ${listed(below, look)}`,
    ].filter(Boolean);
  }).filter((notes) => notes.length);
  const more = said.length - look.heads;
  return [...said.slice(0, look.heads).flat(), ...(more > 0 ? [`in ${more} more heads, too, weights as given are no shares of 1`] : [])];
}

/** Whether a step against the gradients has made L larger: it went too far. */
function risen(name) {
  const { matrix, worked: { digits } } = solution.steps[name], { n, d } = asRatio(matrix.exactAt(0));
  return -n * tenTo(60) <= d ? [] : [`L rose by ${shownText(-digits[0], state.settings.decimals)}: the step is too long (a shorter step decreases L)`];
}

/** A sentence for each head with a note, and the number of further ones. */
function told(ofHeads, says, ofMore) {
  const heads = ofHeads.map((each, h) => [each, h]).filter(([each]) => each.length);
  const said = heads.slice(0, look.heads).map(([each, h]) => says(each, h));
  return heads.length > look.heads ? [...said, ofMore(heads.length - look.heads)] : said;
}
