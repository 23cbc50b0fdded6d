// Equations that users write: each replaces the step with its name, or adds a step, as in equations/own.py.

import { SIDES, extents, sizesOf as sizesOfEquation } from "../equations/extents.js";
import { COMPARISONS, name as nameNode, node, num, parse, rebuilt, walk } from "../equations/parse.js";
import { source, written } from "../equations/source.js";
import { Refusal } from "../numbers.js";

const SIZES = ["n", "m", "d", "d_k", "d_v", "d_ff", "heads"];
const USUAL = { i: ["n"], t: ["n"], j: ["m"], h: ["heads"] };
const SIGNS = [[/√\s*([\w.]+)/gu, "sqrt($1)"], [/√/g, "sqrt"], [/[·⋅×]/g, "*"], [/÷/g, "/"], [/−/g, "-"], [/²/g, "**2"], [/³/g, "**3"], [/≤/g, "<="], [/≥/g, ">="], [/≠/g, "!="], [/∞/g, "inf"], [/π/g, "pi"], [/[Σ∑]/g, "sum"]];
const MOST_CHARACTERS = 4000, MOST_WORK = 5_000_000, LARGEST_POWER = 1000;

/** A line as { name, title, text, equation }. */
function readLine(text) {
  const [, typed, title = ""] = /^((?:[^"#]|"[^"]*")*)(?:#(.*))?$/s.exec(text);
  let line = SIGNS.reduce((all, [sign, ascii]) => all.replace(sign, ascii), typed).trim().replace(/\s+/g, " ");
  if (line.length > MOST_CHARACTERS) throw new Refusal(`an equation has at most ${MOST_CHARACTERS} characters`);
  if (/^\w+ ?=/.test(line)) line = line.replace(/^(\w+) ?=/, "$1[] =");
  let equation;
  try { equation = parse(line); } catch (error) { throw new Refusal(error.message); }
  if (equation.at.length > 3) throw new Refusal(`${equation.name}: a matrix has at most three indices: heads, rows and columns`);
  if ([...SIZES, "inf", "pi"].includes(equation.name)) throw new Refusal(`${equation.name} is a size or a constant: choose another name`);
  refuseTests(equation);
  return { name: equation.name, title: title.trim(), text: typed.trim(), equation };
}

/** Refuse conditions where numbers belong, and exponents that take long. */
function refuseTests({ name, right }) {
  const isTest = ({ is }) => ["and", "or", "not", ...COMPARISONS].includes(is);
  const visit = (x, maySay) => {
    if (isTest(x) && !maySay) throw new Refusal(`${name}: ${source(x)} is a condition, no number: write 1 if ${source(x)} else 0`);
    if (x.is === "**") for (const y of walk(x.parts[1])) if (y.is === "**" || (y.is === "num" && y.value.n > BigInt(LARGEST_POWER) * y.value.d)) throw new Refusal(`${name}: an exponent is at most ${LARGEST_POWER}`);
    x.parts.forEach((part, k) => visit(part, ["and", "or", "not"].includes(x.is) || (x.is === "if" && k === 0) || (["sum", "max"].includes(x.is) && k === 2) || (x.is === "why" && k === 1)));
  };
  visit(right, false);
}

/** Refuse an index that runs over nothing or too much. */
function checkRuns(line, own, held, settings) {
  const runs = extents(own, held, settings), asked = sizesOfEquation(own);
  for (const index of Object.keys(asked)) {
    if (!(Number.isInteger(runs[index]) && runs[index] >= 0)) throw new Refusal(`${line.name}: ${index} runs over ${source(asked[index])}: sizes are whole numbers`);
    if (runs[index] > MOST_WORK) throw new Refusal(`${line.name}: ${index} runs over ${runs[index]}: at most ${MOST_WORK} are computed here`);
    if (!runs[index]) throw new Refusal(`${line.name}: ${index} runs over nothing: its size is 0`);
  }
  const work = (x) => (x.index ? runs[x.index] : 1) * (1 + x.parts.reduce((all, part) => all + work(part), 0));
  if (own.at.reduce((all, index) => all * runs[index], 1) * work(own.right) > MOST_WORK) throw new Refusal(`${line.name} takes more than ${MOST_WORK} operations: use attncalc for it`);
}

const indicesOf = ({ at, right }) => new Set([...at, ...[...walk(right)].map((x) => x.index).filter(Boolean)]);

/** The matrices that an equation reads. */
function readsOf(equation) {
  const indices = indicesOf(equation), found = new Set();
  for (const x of [...walk(equation.right), ...equation.over.filter(Boolean).flatMap((each) => [...walk(each)])])
    if (x.is === "entry" || (x.is === "name" && !indices.has(x.name) && ![...SIZES, "pi"].includes(x.name))) found.add(x.name);
  return [...found];
}

/** The steps of a plan with the equations of a user among them. */
export function stepsWith(text, { steps, given }) {
  const lines = new Map();
  for (const line of text.split("\n").filter((each) => each.trim()).map(readLine)) {
    if (lines.has(line.name)) throw new Refusal(`${line.name} is stated twice`);
    lines.set(line.name, line);
  }
  const before = new Map(steps.map((step) => [step.name, step])), made = new Map(), opened = [];
  const shapes = Object.fromEntries(Object.entries(given).map(([name, { shape: [h, r, c] }]) => [name, h ? [h, r, c] : [r, c]]));
  const put = (name) => {
    const line = lines.get(name), step = before.get(name);
    if (made.has(name) || !(line || step)) return;
    if (opened.includes(name)) throw new Refusal(`these read one another in a circle: ${[...opened.slice(opened.indexOf(name)), name].join(" → ")}. attncalc computes such rows together; this page does not`);
    opened.push(name);
    const reads = line ? readsOf(line.equation).filter((each) => each !== name) : Object.values(step.inputs).filter((each) => each !== name);
    reads.forEach(put);
    opened.pop();
    const own = line ? stepOf(line, step, shapes, sizesOf(shapes)) : step;
    made.set(name, own);
    shapes[name] = shapeOf(own, shapes);
  };
  for (const name of before.size && [...before.keys()].every((each) => lines.has(each)) ? lines.keys() : [...before.keys(), ...lines.keys()]) put(name);
  const readBefore = new Set(steps.flatMap((step) => Object.values(step.inputs)).filter((name) => !lines.has(name)));
  for (let left = [...made.values()]; ;) {
    const read = new Set(left.flatMap((step) => Object.values(step.inputs)));
    const kept = left.filter(({ name }) => read.has(name) || !readBefore.has(name));
    if (kept.length === left.length) return { steps: kept, given };
    left = kept;
  }
}

/** The sizes that have a value: queries, keys, features, widths and heads. */
export function sizesOf(shapes) {
  const side = (behind, ...names) => { const name = names.find((each) => (shapes[each]?.length ?? 0) >= behind); return name ? shapes[name].at(-behind) : 0; };
  const found = {
    n: side(2, "Q", "S", "A", "X", "X1"), m: side(2, "K_all", "K", "X", "X2") || side(1, "S", "A"), d: side(1, "X", "X1"), d_k: side(1, "K", "Q"), d_v: side(1, "V"),
    d_ff: side(1, "F_1", "W_1"), heads: side(3, "Q", "S", "A") || 1,
  };
  return Object.fromEntries(Object.entries(found).filter(([, size]) => size));
}

function shapeOf(step, shapes) {
  const equation = parse(step.equation.split("\n")[0]), settings = Object.fromEntries(Object.entries(step.settings).map(([name, text]) => [name, Number(text)]));
  const held = Object.fromEntries(Object.entries(step.inputs).map(([name, title]) => [name, shapes[title]]));
  for (const [name, table] of Object.entries(step.tables ?? {})) held[name] = table.shape;
  const sizes = extents(equation, held, settings), lead = Object.values(held).reduce((most, shape) => (equation.at.length < 3 && shape.length > most.length ? shape : most), []);
  return [...(lead.length === 3 && equation.at.length === 2 ? [lead[0]] : []), ...equation.at.map((index) => sizes[index])];
}

/** The step of an equation, with every index and size written out. */
function stepOf(line, replaces, shapes, sizes) {
  const { equation } = line, reads = readsOf(equation);
  for (const name of reads) if (!shapes[name] && name !== line.name) throw new Refusal(`${line.name}: ${name} is not an index, size or matrix here (${Object.keys(shapes).join(", ")})`);
  let own = explicit(line, shapes);
  const seen = [...walk(own.right)], shape = replaces && Object.values(replaces.inputs).every((name) => shapes[name]) ? shapeOf(replaces, shapes) : null;
  own = { ...own, over: own.over.map((size, k) => size ?? sizeOf(own, k, seen, shapes, shape, sizes)) };
  const settings = Object.fromEntries(Object.entries(sizes).filter(([name]) => seen.concat(own.over.filter(Boolean).flatMap((each) => [...walk(each)])).some((x) => x.is === "name" && x.name === name)).map(([name, size]) => [name, String(size)]));
  for (const x of seen) if (x.is === "name" && SIZES.includes(x.name) && !(x.name in settings)) throw new Refusal(`${line.name}: the size ${x.name} is unknown here`);
  const inputs = Object.fromEntries(reads.filter((name) => name !== line.name).map((name) => [name, name]));
  const step = { name: line.name, title: line.title || replaces?.title || "stated by an equation", role: roleOf(line, own, replaces), equation: written(own), inputs, settings, formula: line.text };
  try {
    const numbers = Object.fromEntries(Object.entries(settings).map(([name, size]) => [name, Number(size)]));
    checkRuns(line, own, Object.fromEntries(Object.keys(inputs).map((name) => [name, shapes[name]])), numbers);
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(`${error.message}: write it on the left, as ${own.at[0] ?? "i"} in d`);
  }
  if (!reads.some((name) => name !== line.name)) {
    const sides = new Set(Object.values(shapes).flat());
    if (!shapeOf(step, shapes).some((side) => sides.has(side))) throw new Refusal(`${line.name}: an equation reads a matrix, or runs over the side of one`);
  }
  checkPlaces(line, own, shapes, step);
  return step;
}

function roleOf({ name }, { right }, replaces) {
  if (replaces) return replaces.role;
  return name === "O" ? "outputs" : name === "A" || (right.is === "row" && right.parts[2].is === "name") ? "weights" : "";
}

/** What an index of the result runs over where nothing on the left says it: undefined where an entry does. */
function sizeOf(own, k, seen, shapes, shape, sizes) {
  const index = own.at[k];
  if (seen.some((x) => x.is === "entry" && x.name !== own.name && shapes[x.name] && x.parts.some((part) => part.is === "name" && part.name === index))) return null;
  const row = seen.find((x) => x.is === "row" && x.parts[2].is === "name" && x.parts[2].name === index);
  if (row) return row.parts[1];
  if (shape && shape.length >= own.at.length - k) return num(shape[shape.length - (own.at.length - k)]);
  const usual = (USUAL[index] ?? []).find((name) => name in sizes);
  return usual ? nameNode(usual) : null;
}

/** The equation with two or three indices for each matrix, and with heads by name. */
function explicit(line, shapes) {
  const { equation } = line, indices = indicesOf(equation), all = { ...shapes };
  const short = [...walk(equation.right)].filter((x) => x.is === "entry" && x.name !== line.name && all[x.name]?.length === 3 && x.parts.length < 3);
  const bareNames = readsOf(equation).filter((name) => all[name]?.length === 3 && [...walk(equation.right)].some((x) => x.is === "name" && x.name === name));
  const withHeads = [...new Set([...short.map((x) => x.name), ...bareNames])], heads = Math.max(0, ...withHeads.map((name) => all[name][0]));
  let head = "h";
  while (indices.has(head)) head += "_";
  if (withHeads.length && equation.at.length > 2) throw new Refusal(`${line.name}: ${withHeads[0]} has heads: write its three indices (head, row, column)`);
  let { at, over } = equation;
  all[line.name] = at.length < 2 ? (at.length ? [2, 1] : [1, 1]) : at.map(() => 2);
  const added = ["_0", "_1"].slice(0, Math.max(0, 2 - at.length));
  [at, over] = [[...at, ...added], [...over, ...added.map(() => num(1))]];
  if (withHeads.length) {
    [at, over] = [[head, ...at], [num(heads), ...over]];
    all[line.name] = [heads, ...all[line.name]];
  }
  const put = (x) => {
    if (x.is === "call" && x.name in SIDES && x.parts[0].is === "name") return x.name === "heads" && all[x.parts[0].name]?.length < 3 ? num(1) : x;
    const made = rebuilt(x, put);
    if (made.is === "name" && all[made.name] && !indices.has(made.name) && !SIZES.includes(made.name)) return put(node("entry", [], { name: made.name }));
    return made.is === "entry" ? { ...made, parts: placesOf(line, made.name, made.parts, all[made.name], head, heads) } : made;
  };
  return { name: line.name, at, over: over.map((each) => each && put(each)), right: put(equation.right), taught: [], group: [] };
}

function placesOf(line, name, places, shape, head, heads) {
  const lead = shape.length > 2 ? shape[0] : 0, [rows, columns] = shape.slice(-2);
  if (lead && places.length === 3) return places;
  let inner = places;
  if (places.length < 2) {
    if (places.length < (rows > 1) + (columns > 1)) throw new Refusal(`${line.name}: ${name} is ${rows} × ${columns}: it takes two indices, a row and a column`);
    inner = places.length ? (columns === 1 ? [places[0], num(0)] : [num(0), places[0]]) : [num(0), num(0)];
  }
  if (inner.length !== 2) throw new Refusal(`${line.name}: ${name} has ${lead ? 3 : 2} indices, not ${places.length}`);
  if (!lead) return inner;
  const own = lead === 1 ? num(0) : lead === heads ? nameNode(head) : node("//", [nameNode(head), num(heads / lead)]);
  return [own, ...inner];
}

/** Refuse an index that runs over sides of different lengths. */
function checkPlaces(line, own, shapes, step) {
  const settings = Object.fromEntries(Object.entries(step.settings).map(([name, text]) => [name, Number(text)])), held = Object.fromEntries(Object.keys(step.inputs).map((name) => [name, shapes[name]]));
  const sizes = extents(own, held, settings);
  for (const x of walk(own.right)) if (x.is === "entry" && x.name !== own.name) x.parts.forEach((part, k) => {
    const side = shapes[x.name][k];
    if (part.is === "name" && sizes[part.name] > side) throw new Refusal(`${line.name}: ${part.name} runs to ${sizes[part.name]}, but ${x.name} has ${side} ${["columns", "rows", "heads"][x.parts.length - 1 - k]}`);
  });
}
