// Guided pages with numbers to change and a question that is checked, and practice with random numbers.

import { button, labelled, make, own, select } from "../elements.js";
import { mark } from "../equations/marks.js";
import { asWritten } from "../numbers.js";
import { sidesOf } from "../equations/solve.js";
import { written } from "../expressions.js";
import { recalled, stored } from "../storing.js";
import { tried } from "../trying.js";
import { readPasted } from "./pasted.js";
import { afterChange, become, choose, plan, solution, state, stateOf, stateOfAddress, work } from "./state.js";
import { cellOf, connectionOf, formulaOf, placeSaid, practise, answers, show } from "./view.js";

export const panel = make("section", { class: "panel", hidden: true, "aria-label": "Learn and practice" });

/** Show something in the panel, or close it. */
function open(title, ...content) {
  panel.replaceChildren(make("h2", { tabindex: -1 }, title), ...content, button("Close", close));
  panel.hidden = false;
  panel.firstChild.focus();
}

export function close() {
  panel.hidden = true;
  lesson = null;
  if (answers) practise(null);
}

// ---------------------------------------------------------------- learn

const entry = (name, i, j) => { const { worked } = solution.steps[name] ?? {}; return worked && Number(worked.digits[i * plan.shapes[name].at(-1) + j]) / 10 ** state.settings.decimals; };
const mostOf = (name, i) => connectionOf(name, 0, i).most;
const isHere = (...names) => names.every((name) => name in solution.steps);

/** Title, problem, text, question, and whether the numbers now answer it. */
const LESSONS = [
  {
    title: "1. What Q, K and V are", address: "problem=self&scale=none&X=1,0;0,1;1,1&W_Q=1,0;0,1&W_K=0,1;1,0&W_V=2,0;0,3",
    text: ["Each row of X is a token. Q = X W_Q is what a token looks for, K = X W_K is what it offers, and V = X W_V is what it passes on.",
      "Point at S[1,2]: it is row 1 of Q times row 2 of K. A large score means that token 1 attends to token 2. Each row of O is a sum of the rows of V, weighted by A."],
    ask: "Change one entry of W_Q so that output 1 attends most to input 1.",
    holds: () => isHere("A") && mostOf("A", 0).join() === "0",
  },
  {
    title: "2. Why divide by √d_k", address: "problem=self&X=4,0;0,4;2,2&W_Q=2,0;0,2&W_K=2,0;0,2&W_V=1,0;0,1", slider: true,
    text: ["Scores are sums of d_k products, so they grow with d_k. Large scores make the softmax put almost all weight on one token, and then its gradients vanish.",
      "Dividing by √d_k keeps the scores small. Move the slider: it multiplies the scores by β."],
    ask: "Choose β so that the largest weight of output 3 is at most 0.50.",
    holds: () => isHere("A") && Math.max(entry("A", 2, 0), entry("A", 2, 1), entry("A", 2, 2)) <= 0.5,
  },
  {
    title: "3. Softmax and temperature", address: "problem=scores&scale=none", slider: true,
    text: ["The softmax turns a row of scores into weights that are positive and sum to 1: each is e^score over the sum of all of them.",
      "β is one over the temperature. With β = 0 all weights are equal; with a large β the largest score takes everything. Adding the same number to all scores of a row changes nothing: try it."],
    ask: "Change the scores so that all weights of output 1 are equal, without setting β to 0.",
    holds: () => isHere("A") && state.settings.scale !== "0" && new Set(plan.shapes.A && Array.from({ length: plan.shapes.A[1] }, (_, j) => solution.steps.A.worked.digits[j])).size === 1,
  },
  {
    title: "4. Masks", address: "problem=self&causal=true",
    text: ["A causal mask sets the scores of later tokens to -∞. e^-∞ is 0, so a token never attends to a later one. A language model is trained this way, because it must not see the word that it predicts.",
      "The first token attends to itself alone: its weight is 1.00, whatever the numbers are."],
    ask: "Switch the causal mask off, under Conventions, so that output 1 attends to all inputs.",
    holds: () => isHere("A") && !state.settings.causal && [0, 1, 2].every((j) => entry("A", 0, j) > 0),
  },
  {
    title: "5. Heads", address: "problem=heads",
    text: ["Each head has its own W_Q, W_K and W_V, so it can attend to other tokens. The results of all heads are put side by side, and W_O mixes them.",
      "Compare the maps of the two heads: point at the weights of either."],
    ask: "Change the weights of head 2 so that output 1 attends most to another input than in head 1.",
    holds: () => isHere("A") && plan.shapes.A.length > 2 && connectionOf("A", 0, 0).most.join() !== connectionOf("A", 1, 0).most.join(),
  },
];
let lesson = null;
const verdict = make("p", { role: "status", class: "verdict" });

export function learn(number = 0) {
  const { title, address, text, ask, slider } = LESSONS[number];
  practise(null);
  tried(() => become(stateOfAddress(address).it));
  lesson = number;
  const beta = make("input", { type: "range", min: 0, max: 40, value: 10, "aria-label": "β", oninput: () => tried(() => choose({ scale: asWritten({ n: BigInt(beta.value), d: 10n }) })) });
  open(title, ...text.map((each) => make("p", {}, each)), ...(slider ? [labelled("β, from 0 to 4", beta)] : []),
    make("p", { class: "ask" }, make("b", {}, "Your turn: "), ask), verdict,
    make("nav", { "aria-label": "Lessons" }, ...LESSONS.map((each, k) => { const go = button(String(k + 1), () => learn(k)); go.setAttribute("aria-label", each.title); if (k === number) go.setAttribute("aria-current", "page"); return go; })),
    ...(number === 0 ? [sentence()] : []));
  judge();
}

function judge() {
  if (lesson === null) return;
  const holds = LESSONS[lesson].holds();
  verdict.textContent = holds ? "Yes, that is it." : "Not yet.";
  if (holds) keep((kept) => ({ ...kept, lessons: [...new Set([...(kept.lessons ?? []), lesson])] }));
}

/** A small vector for a word, always the same: invented for teaching, not learned. */
function vectorOf(word) {
  let hash = 7;
  for (const letter of word.toLowerCase()) hash = (hash * 31 + letter.codePointAt(0)) % 65521;
  return [0, 1, 2].map((k) => String((Math.floor(hash / 5 ** k) % 5) - 1));
}

function sentence() {
  const input = make("input", { type: "text", value: "the cat sat", maxlength: 200 });
  return make("form", { onsubmit: (event) => { event.preventDefault(); tried(() => become(stateOfSentence(input.value))); } },
    labelled("Or type a sentence: each word gets a small invented vector", input), make("button", {}, "Show its attention"));
}

/** Self-attention of the words of a sentence. */
export function stateOfSentence(text) {
  const words = text.trim().split(/\s+/).filter(Boolean).slice(0, 12), it = stateOf("self");
  if (!words.length) return it;
  it.given.X = { role: "tokens", shape: [0, words.length, 3], entries: words.flatMap(vectorOf) };
  for (const [name, rows] of [["W_Q", [[1, 0], [0, 1], [1, 1]]], ["W_K", [[0, 1], [1, 0], [1, -1]]], ["W_V", [[1, 0], [0, 1], [1, 1]]]])
    it.given[name] = { role: "weights", shape: [0, 3, 2], entries: rows.flat().map(String) };
  return { ...it, labels: { X: words } };
}

// ---------------------------------------------------------------- practice

const LEVELS = [["1", "easy: two tokens, no scaling"], ["2", "medium: three tokens, scaled"], ["3", "hard: negative numbers, a mask"]];
const SAID = {
  correct: "right", rounding: "right except for rounding", follows: "correct given your earlier values", "matches-key": "right, but it does not follow from your earlier values",
  precision: "right, with fewer decimals than asked for", wrong: "wrong", undecided: "cannot be decided here: use attncalc check", unreadable: "not a number",
};
const PLACE = "attncalc playground";

const recall = () => recalled(PLACE) ?? {};
const keep = (change) => stored(PLACE, change(recall()));

function random(level) {
  const it = stateOf("self"), n = level > 1 ? 3 : 2, d = 2, low = level > 2 ? -2 : 0;
  const draw = (rows, columns) => ({ shape: [0, rows, columns], entries: Array.from({ length: rows * columns }, () => String(low + Math.floor(Math.random() * (level > 2 ? 5 : 3)))) });
  it.given = { X: { role: "tokens", ...draw(n, d) }, ...Object.fromEntries(["W_Q", "W_K", "W_V"].map((name) => [name, { role: "weights", ...draw(d, level > 1 ? 2 : 1) }])) };
  it.settings = { ...it.settings, scale: level > 1 ? "sqrt_dk" : "none", causal: level > 2 };
  return { ...it, labels: {} };
}

export function practice() {
  lesson = null;
  const level = select({}, LEVELS);
  const result = make("p", { role: "status", class: "verdict" }), pasted = make("textarea", { rows: 4, "aria-label": "Your whole answer" });
  const hints = make("div", { class: "hint", "aria-live": "polite" });
  level.value = recall().level ?? "1";
  const start = () => { keep((kept) => ({ ...kept, level: level.value })); tried(() => become(random(Number(level.value)))); practise({}); result.textContent = hints.textContent = ""; };
  open("Practice", make("p", {}, `Fill in the results, and check them. Each step may follow from your earlier values. Solved so far in this browser: ${recall().solved ?? 0}.`),
    labelled("Difficulty", level),
    make("div", { class: "buttons" }, button("New problem", start), button("Use my own numbers", () => practise({})), button("Check", () => (result.textContent = checked())),
      ...[1, 2, 3].map((depth) => button(`Hint ${depth}`, () => hints.replaceChildren(...hint(depth))))),
    result, hints,
    make("details", {}, make("summary", {}, "Find my mistake: paste a whole answer"), pasted,
      button("Read it", () => tried(() => { result.textContent = readAnswer(pasted.value); }, (why) => { result.textContent = `Not changed: ${why}.`; }))));
  start();
}

/** The mark of each entry; those that are blank have "blank". */
function marks() {
  const texts = {};
  for (const { name } of plan.steps) if (!state.given[name]) texts[name] = Array.from({ length: plan.shapes[name].reduce((all, side) => all * side, 1) }, (_, k) => own(answers, name)?.[k] ?? "");
  return mark(solution, texts);
}

function checked() {
  const counts = {}, all = marks();
  for (const [name, row] of Object.entries(all)) row.forEach((status, k) => {
    counts[status] = (counts[status] ?? 0) + 1;
    const cell = cellOf(name, k);
    cell.className = status === "blank" ? "" : ["wrong", "unreadable", "matches-key"].includes(status) ? "wrong" : "right";
    cell.title = SAID[status] ?? "";
    cell.querySelector("input")?.setAttribute("aria-description", SAID[status] ?? "");
  });
  const isDone = !["blank", "wrong", "unreadable", "undecided", "matches-key"].some((status) => counts[status]);
  if (isDone) keep((kept) => ({ ...kept, solved: (kept.solved ?? 0) + 1 }));
  const told = Object.entries({ ...SAID, blank: "blank" }).filter(([status]) => counts[status]).map(([status, said]) => `${counts[status]} ${said}`);
  return `${told.join("; ")}.${isDone ? " Solved." : ""}${counts.wrong ? " attncalc check names the cause of a mistake." : ""}`;
}

/** Where to look, which rule, or the line of work without its result. */
function hint(depth) {
  const all = marks(), step = plan.steps.find(({ name }) => all[name]?.some((status) => ["wrong", "blank", "unreadable", "matches-key"].includes(status)));
  if (!step) return ["Everything is right."];
  const k = all[step.name].findIndex((status) => ["wrong", "unreadable", "matches-key"].includes(status)), at = k < 0 ? all[step.name].indexOf("blank") : k;
  show({ name: step.name, k: at });
  const lines = [`Look at ${placeSaid(step.name, at)}: ${step.title}.`];
  if (depth > 1) lines.push(`${formulaOf(step)}.`);
  if (depth > 2) lines.push(`${placeSaid(step.name, at)} = ${work.line(step.name, at).forms.map(written).join(" = ")} = ?`);
  return lines.map((text) => make("p", {}, text));
}

/** Take a pasted answer into the cells: named matrices of the right shape. */
function readAnswer(text) {
  const { matrices = {} } = readPasted(text), taken = [], left = [];
  for (const [name, rows] of Object.entries(matrices)) {
    const step = plan.steps.find((each) => each.name.toLowerCase() === name.toLowerCase());
    const [h, r, c] = step && !state.given[step.name] ? sidesOf(solution.carried[step.name]) : [];
    if (step && rows.length === (h || 1) * r && rows[0].length === c) { answers[step.name] = rows.flat(); taken.push(step.name); } else left.push(name || "numbers without a name");
  }
  if (!taken.length) return "No named results of these shapes are in it. Write them as Q = [[1, 0], [0, 1]], or use attncalc check, which reads any form.";
  practise({ ...answers });
  return `Read: ${taken.join(", ")}.${left.length ? ` Not read: ${left.join(", ")}.` : ""} ${checked()}`;
}

export function startLearning() {
  afterChange(() => {
    if (answers) for (const [name, row] of Object.entries(answers)) if (!plan.shapes[name] || row.length > plan.shapes[name].reduce((all, side) => all * side, 1)) delete answers[name];
    setTimeout(judge, 0);
  });
}

