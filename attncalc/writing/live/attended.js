// What each output attends to, as values and in sentences.

import { byColumns, data, problemNow, state } from "./edited.js";
import { own } from "./elements.js";
import { plus, significant, written } from "./expressions.js";
import { asWritten, readNumber, size, tenTo } from "./numbers.js";
import { shownText } from "./plan.js";
import { solution } from "./solved.js";

const look = data.look, line = byColumns ? "column" : "row";
const BILLION = tenTo(9);
const found = new WeakMap();

/** Places that share the first place, within a billionth of it. */
function sharing(row) {
  const most = row.reduce((a, b) => (b > a ? b : a));
  const room = size(most);
  return row.flatMap((n, j) => ((most - n) * BILLION <= room ? [j] : []));
}

function connectionOf({ carried, digits }, h, i) {
  const from = ((carried.h > 1 ? h : 0) * carried.r + i) * carried.c;
  const full = carried.n.slice(from, from + carried.c), shown = digits.n.slice(from, from + carried.c);
  if (!full.some((n) => n > 0n)) return { most: [], second: [], shown, full };
  const most = sharing(full);
  if (most.length > 1) return { most, second: [], shown, full };
  const rest = full.map((n, j) => (shown[j] !== 0n && !most.includes(j) ? n : 0n));
  return { most, second: rest.some((n) => n > 0n) ? sharing(rest) : [], shown, full };
}

/** The inputs that an output attends to most, and second; its weights as shown, and in full. */
export function connection(name, h, i) {
  const result = solution.results[name];
  if (!found.has(result)) found.set(result, []);
  return (found.get(result)[h * result.carried.r + i] ??= connectionOf(result, h, i));
}

/** Names one after another, of many the first few of them and how many more. */
export function listed(all) {
  const names = all.length > look.listed ? [...all.slice(0, look.named), `${all.length - look.named} more`] : all;
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

export function sentence(name, h, i) {
  const { inputs, outputs } = data.weights[name];
  const { most, second, shown } = connection(name, h, i);
  const { decimals } = state.settings;
  const said = (places) => {
    const weight = shownText(shown[places[0]], decimals);
    const names = listed(places.map((j) => inputs[j]));
    return places.length === 1 ? `input ${names} (${weight})` : `inputs ${names} (${weight} each)`;
  };
  const output = `Output ${outputs[i]}`;
  if (!most.length) return `${output}: no input (every weight is 0)`;
  if (second.length) return `${output}: most ${said(most)}, second ${said(second)}`;
  if (most.length > 1) return `${output}: most ${said(most)}, so no second`;
  if (shown.some((n) => n < 0n)) return `${output}: most ${said(most)}, no second (no other weight is above 0)`;
  const rest = inputs.length > 1 ? `no second (the other weights show as ${shownText(0n, decimals)})` : "no other";
  return `${output}: most ${said(most)}, ${rest}`;
}

export const weightsTold = (name, h, i) => `Weights of output ${data.weights[name].named[i]}: `
  + connection(name, h, i).shown.map((n) => shownText(n, state.settings.decimals)).join(", ");

/** What a reader should know of weights: rows that sum to other than 1, and rows with nothing left. */
export function notesOf(step, areWeights) {
  if (own(NOTES, step.op)) return NOTES[step.op](step.name, areWeights);
  if (!areWeights) return [];
  const { carried } = solution.results[step.name];
  const { outputs } = data.weights[step.name];
  const { decimals } = state.settings;
  const one = shownText(tenTo(decimals), decimals);
  const ofHeads = (says) => Array.from({ length: carried.h || 1 }, (_, h) =>
    Array.from({ length: carried.r }, (_unused, i) => says(h, i)).filter(Boolean));
  const rest = own(REST, step.op);
  const sums = rest ? [] : ofHeads((h, i) => {
    const { shown, full } = connection(step.name, h, i);
    const total = shown.reduce((a, b) => a + b, 0n);
    if (total === tenTo(decimals) || full.every((n) => n === 0n)) return "";
    return `${line} ${outputs[i]} sums to ${shownText(total, decimals)}`;
  });
  const scores = solution.known[step.inputs[0]];
  const isMasked = own(data.given, step.inputs[0]) || solution.steps.find((each) => each.name === step.inputs[0])?.role === "masked";
  const empty = ofHeads((h, i) => {
    const from = ((scores.h > 1 ? h : 0) * scores.r + i) * scores.c;
    return isMasked && scores.n.slice(from, from + scores.c).every((n) => n === null) && outputs[i];
  });
  const of = (h) => (carried.h ? ` in head ${h + 1}` : "");
  return [
    ...(rest ? [`the weights of a ${line} sum to less than 1: the rest goes to ${rest}`] : []),
    ...told(sums, (each, h) => `weights are rounded as shown, so${of(h)} ${listed(each)}, not ${one}`,
      (more) => `in ${more} more heads, too, weights as shown sum to other than ${one}`),
    ...told(empty, (each, h) => `output ${listed(each)}${of(h)}: no key is left to attend to, all weights are 0`,
      (more) => `in ${more} more heads, too, no key is left to some outputs`),
  ];
}

/** The same of weights that are given: they may sum to anything, and be below 0. */
function notesOfGiven(name, areWeights) {
  if (!areWeights) return [];
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
      sums.length && `weights as given need not sum to 1:${of} ${listed(sums)}`,
      below.length && `weights as given may be below 0, as in${of} ${listed(below)}`,
    ].filter(Boolean);
  }).filter((notes) => notes.length);
  const more = said.length - look.heads;
  return [...said.slice(0, look.heads).flat(), ...(more > 0 ? [`in ${more} more heads, too, weights as given are no shares of 1`] : [])];
}

/** Whether a step against the gradients has made L larger: it went too far. */
function risen(name) {
  const { carried, digits } = solution.results[name];
  if (name !== "L_fell" || -carried.n[0] * tenTo(60) <= carried.d) return [];
  return [`L rose by ${shownText(-digits.n[0], state.settings.decimals)}: the step is too long (a smaller one makes it fall)`];
}

/** By operation: of others, a page goes without. */
const NOTES = { Given: notesOfGiven, Difference: risen }, REST = { SoftmaxBesideSink: "the sink" };

/** A sentence for each head that has something to say, and how many more there are. */
function told(ofHeads, says, ofMore) {
  const heads = ofHeads.map((each, h) => [each, h]).filter(([each]) => each.length);
  const said = heads.slice(0, look.heads).map(([each, h]) => says(each, h));
  return heads.length > look.heads ? [...said, ofMore(heads.length - look.heads)] : said;
}
