// The gradients of a plan: the chain rule from the last step to all given matrices, as problem/gradients.

import { allOf, namesOf, same } from "../equations/algebra.js";
import { gradient, gradientName, readsOf, recurs, total, totalName } from "../equations/derive.js";
import { extents } from "../equations/extents.js";
import { name as nameNode, node, num, rebuilt, walk } from "../equations/parse.js";
import { equationOf } from "../equations/solve.js";
import { source, written } from "../equations/source.js";
import { Refusal } from "../numbers.js";
import { sizesOf } from "./own.js";

const NO_GRADIENT = ["marks", "arriving", "ids", "frequencies"], WEIGHTS = ["weights", "bias"];
const USUAL = { i: "n", t: "n", j: "m", h: "heads" };
const WIDTHS = ["d_v", "d_k", "d", "d_ff"];
const lastOf = (name) => name.slice(name.lastIndexOf(".") + 1), before = (name) => name.slice(0, name.lastIndexOf(".") + 1);
const gradientOf = (name) => `${before(name)}d${lastOf(name)}`;
const partOf = (name, by) => `${before(by) || before(name)}d${lastOf(name)}_${lastOf(by)}`;

/** The name of the gradient that starts backpropagation, among given matrices. */
export const arrivingIn = (given) => Object.keys(given).find((name) => given[name].role === "arriving");

/** The steps that are not computed from the arriving gradient. */
export function forwardOf(steps, given) {
  const late = new Set([arrivingIn(given)]);
  for (const { name, inputs } of steps) if (Object.values(inputs).some((each) => late.has(each))) late.add(name);
  return steps.filter(({ name }) => !late.has(name));
}

/** The equation of a step that names every head, row and column of the matrices it reads, with a size for each index. */
function spelled(step, shapes) {
  if (step.equation.includes("\n")) throw new Refusal(`${step.name} is computed together with other steps: save the problem, and use attncalc for its gradients`);
  const equation = equationOf(step.equation), numbers = Object.fromEntries(Object.entries(step.settings).map(([name, typed]) => [name, Number(typed)]));
  const titles = Object.entries(step.inputs), once = Object.fromEntries(titles.map(([name, title]) => [name, titles.find(([, each]) => each === title)[0]]));
  const shapeOf = (name) => (name === equation.name ? shapes[step.name] : shapes[step.inputs[name]] ?? step.tables?.[name]?.shape);
  const held = Object.fromEntries([...readsOf(equation)].filter((name) => name !== equation.name).map((name) => [name, shapeOf(name)]));
  const sizes = extents(equation, held, numbers), taken = new Set([...equation.at, ...namesOf(equation.right), ...Object.keys(held), ...[...walk(equation.right)].map((x) => x.index).filter(Boolean)]);
  const free = (name) => (taken.has(name) ? free(`${name}_`) : (taken.add(name), name));
  const count = shapes[step.name].length > equation.at.length ? shapes[step.name][0] : 0, head = count ? free("h") : "";
  const put = (x) => {
    if (x.is === "call" && x.parts[0].is === "name" && once[x.parts[0].name]) return { ...x, parts: [nameNode(once[x.parts[0].name])] };
    const made = rebuilt(x, put);
    if (made.is !== "entry") return made;
    const shape = shapeOf(made.name), places = made.parts.slice(Math.max(0, made.parts.length - shape.length));
    if (shape.length > places.length) places.unshift(head && shape[0] === count ? nameNode(head) : num(0));
    const fixed = places.map((place, k) => (shape[k] === 1 && place.is === "name" && (place.name === head || (sizes[place.name] ?? 1) > 1) ? num(0) : place));
    return { ...made, name: once[made.name] ?? made.name, parts: fixed };
  };
  const known = sizesOf(shapes), sized = {};
  const sizeOf = (size, index) => {
    if (size) return put(size);
    const usual = USUAL[index] ?? WIDTHS.find((name) => known[name] === sizes[index]) ?? `${index}_size`;
    const name = numbers[usual] === sizes[index] || sized[usual] === sizes[index] || sizes[usual] === sizes[index] ? usual : free(usual);
    sized[name] = sizes[index];
    return nameNode(name);
  };
  const over = [...(head ? [sizeOf(null, "h")] : []), ...equation.at.map((index, k) => sizeOf(equation.over[k], index))];
  if (head) sized[over[0].name] = count;
  return { equation: { ...equation, at: [...(head ? [head] : []), ...equation.at], over, right: put(equation.right), taught: [] }, settings: { ...sizes, ...sized, ...numbers } };
}

/** The equation without conditions that always hold, in the right-hand side alone. */
function simple(x, settings, sizes) {
  const made = rebuilt(x, (part) => simple(part, settings, sizes));
  if (made.is !== "if") return made;
  const tests = conjuncts(made.parts[0]).filter((test) => !holds(test, settings, sizes));
  return tests.length ? { ...made, parts: [allOf(...tests), made.parts[1], made.parts[2]] } : made.parts[1];
}
const conjuncts = (x) => (x.is === "and" ? x.parts.flatMap(conjuncts) : [x]);
const numberOf = (x, settings) => (x.is === "num" && x.value.d === 1n ? Number(x.value.n) : settings[x.is === "name" ? x.name : source(x)]);
function holds({ is, parts: [a, b] }, settings, sizes) {
  const [low, high] = a.is === "name" && sizes[a.name] ? [0, sizes[a.name] - 1] : [numberOf(a, settings), numberOf(a, settings)], to = b && numberOf(b, settings);
  return high !== undefined && to !== undefined && ((is === "<" && high < to) || (is === "==" && low === high && high === to) || (is === "<=" && high <= to));
}

/** A plan followed by its gradients; a Refusal where a step has none. */
export function withGradients(steps, given, shapes) {
  const forward = forwardOf(steps, given), last = forward.at(-1), start = arrivingIn(given), all = { ...shapes }, made = [];
  const wanted = new Set(Object.keys(given).filter((name) => !NO_GRADIENT.includes(given[name].role))), uses = new Map(), byName = new Map(forward.map((step) => [step.name, step]));
  for (const step of forward) {
    if (!Object.values(step.inputs).some((name) => wanted.has(name))) continue;
    const { equation, settings } = spelled(step, shapes), found = [];
    for (const [variable, title] of Object.entries(step.inputs)) {
      const derived = wanted.has(title) && !found.some((use) => use.title === title) && gradient(equation, variable);
      if (derived) found.push({ title, step, equation, derived, settings });
    }
    if (!found.length) continue;
    wanted.add(step.name);
    uses.set(step.name, found);
  }
  const leading = new Set([last.name]);
  for (const step of [...forward].reverse()) if (leading.has(step.name)) for (const { title } of uses.get(step.name) ?? []) leading.add(title);
  for (const name of [...uses.keys()]) if (!leading.has(name)) uses.delete(name);
  const counts = new Map(), parts = new Map([[last.name, []]]), known = new Map();
  for (const { title } of [...uses.values()].flat()) counts.set(title, (counts.get(title) ?? 0) + 1);

  const add = (step) => {
    all[step.name] = all[step.like] ?? all[step.name];
    made.push(step);
  };
  const stated = (name, title, equation, like, inputs, settings, tables) => {
    const shown = (x) => { const put = rebuilt(x, shown); return put.is === "entry" && inputs[put.name] ? { ...put, name: inputs[put.name] } : put; };
    const own = Object.fromEntries([equation.right, ...equation.over.filter(Boolean)].flatMap((x) => [...namesOf(x)]).filter((each) => each in settings && !equation.at.includes(each)).map((each) => [each, String(settings[each])]));
    const held = Object.fromEntries(Object.entries(tables ?? {}).filter(([each]) => readsOf(equation).includes(each)));
    add({ name, title, like, role: "", inputs, settings: own, equation: written(equation), formula: `${name}[${equation.at.join(",")}] = ${source(shown(equation.right))}`, ...(Object.keys(held).length ? { tables: held } : {}), ...(equation.name in inputs ? {} : { rows: { [equation.name]: name } }) });
  };
  const titleOf = (name, by) => `gradient of ${name}${byName.has(name) ? `, ${byName.get(name).title}` : ""}${by ? `, by way of ${by}` : ""}`;
  const copy = (name, like, from) => {
    const at = ["h", "i", "j"].slice(-all[like].length), sum = from.map((_, k) => node("entry", at.map(nameNode), { name: `p${k + 1}` })).reduce((a, b) => node("+", [a, b]));
    add({ name, like, title: titleOf(like), role: "", settings: {}, inputs: Object.fromEntries(from.map((each, k) => [`p${k + 1}`, each])), equation: `g[${at.join(", ")}] = ${source(sum)}`, formula: `${name} = ${from.join(" + ")}` });
  };
  const throughRows = (name) => {
    const { equation, settings, step } = uses.get(name)[0], arriving = parts.get(name), title = name === last.name ? partOf(name, name) : gradientOf(name), own = gradientName(equation);
    const inputs = Object.fromEntries([...Object.entries(step.inputs), [equation.name, name], ...arriving.map((each, k) => [`${own}_${k + 1}`, each])]), found = total(equation, arriving.length);
    const reads = readsOf(found);
    stated(title, `gradient of ${name}, through all later rows`, found, name, Object.fromEntries(Object.entries(inputs).filter(([each]) => reads.includes(each))), settings, step.tables);
    known.set(name, title);
  };

  parts.get(last.name).push(gradientOf(last.name));
  if (start !== gradientOf(last.name)) copy(gradientOf(last.name), last.name, [start]);
  if (recurs(equationOf(last.equation))) throughRows(last.name);
  else known.set(last.name, gradientOf(last.name));
  const groups = [];
  for (const step of forward) {
    const beside = groups.at(-1) ?? [];
    if (beside.length && beside[0].equation === step.equation && !beside.some(({ name }) => Object.values(step.inputs).includes(name))) beside.push(step);
    else groups.push([step]);
  }
  const turn = ({ title }) => (WEIGHTS.includes(given[title]?.role) ? 0 : byName.has(title) && shapes[title].at(-1) === shapes[title].at(-2) ? 2 : 1);
  for (const group of groups.reverse())
    for (const { title, step, equation, derived, settings } of group.flatMap(({ name }) => (known.has(name) ? uses.get(name) ?? [] : [])).sort((a, b) => turn(a) - turn(b))) {
      const arriving = gradientName(equation), sofar = parts.get(title) ?? parts.set(title, []).get(title), count = counts.get(title), isOfRows = byName.has(title) && recurs(equationOf(byName.get(title).equation));
      const named = { ...step.inputs, [equation.name]: step.name, [recurs(equation) ? totalName(equation) : arriving]: known.get(step.name) }, reads = readsOf(derived);
      const sizes = Object.fromEntries(derived.at.map((index, k) => [index, all[title][k]])), sides = Object.fromEntries(reads.filter((each) => all[named[each]]).flatMap((each) => ["columns", "rows", "heads"].map((side, k) => [`${side}(${each})`, all[named[each]].at(-1 - k)])));
      const right = simple(derived.right, { ...Object.fromEntries(Object.entries(step.settings).map(([each, typed]) => [each, Number(typed)])), ...sides }, sizes), inputs = Object.fromEntries(Object.entries(named).filter(([each]) => reads.includes(each)));
      const isSame = right.is === "entry" && right.name === arriving && right.parts.every((part, k) => same(part, nameNode(derived.at[k]))) && String(all[title]) === String(all[known.get(step.name)]);
      if (count > 1 && isSame) sofar.push(known.get(step.name));
      else {
        sofar.push(count > 1 || isOfRows ? partOf(title, step.name) : gradientOf(title));
        stated(sofar.at(-1), titleOf(title, sofar.at(-1) === gradientOf(title) ? "" : step.name), { ...derived, right }, title, inputs, settings, step.tables);
      }
      if (sofar.length < count) continue;
      if (isOfRows) throughRows(title);
      else {
        if (count > 1) copy(gradientOf(title), title, sofar);
        known.set(title, gradientOf(title));
      }
    }
  return [...forward, ...made];
}
