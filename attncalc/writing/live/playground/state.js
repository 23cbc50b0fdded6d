// The problem of the playground: a template, its given matrices, settings, names of tokens and equations.

import { digitsFor } from "../equations/digits.js";
import { exactArithmetic } from "../equations/exact.js";
import { extents, whole } from "../equations/extents.js";
import { Program } from "../equations/interpret.js";
import { walk } from "../equations/parse.js";
import { withPoint } from "../decimals.js";
import { equationOf, solve as solutionOf } from "../equations/solve.js";
import { Work } from "../equations/work.js";
import { byId, own } from "../elements.js";
import { Refusal, readNumber } from "../numbers.js";
import { SETTINGS, entryFrom as readEntry, holderOf, inAddress, inJson, isOwnPlan, planKey, putSettings, settingFrom as readSetting, stepsOf as stepsOfPlan } from "../settings.js";
import { arrivingIn, forwardOf, withGradients } from "./back.js";
import { stepsWith } from "./own.js";

export const data = JSON.parse(byId("problem").textContent);
const MOST_DIGITS = 2000, MOST_SIDE = 256, FIRST = 160;

/** What is shown: template, given, settings, labels by matrix of tokens, equations. */
export let state = null;
export let solution = null, work = null, plan = null;
const past = [], next = [], listeners = [];
export const afterChange = (act) => void listeners.push(act);
export const canUndo = () => past.length > 0;
export const canRedo = () => next.length > 0;

// ---------------------------------------------------------------- templates

/** A template as a state: its own numbers, or blanks. */
export function stateOf(key, isBlank = false) {
  const template = data.templates[key];
  if (!template) throw new Refusal(`there is no problem "${key}" here`);
  const given = Object.fromEntries(Object.entries(template.given).map(([name, { shape, entries, role }]) =>
    [name, { shape, role, entries: isBlank && !["marks", "ids"].includes(role) ? entries.map(() => "0") : entries }]));
  const settings = Object.fromEntries(SETTINGS.map((name) => [name, template.settings[name]]));
  return { key, given, settings, labels: labelsOf(template), equations: (template.problem.equations ?? []).join("\n") };
}

function labelsOf({ problem: { labels } }) {
  if (!labels) return {};
  return Array.isArray(labels) ? { X: labels } : labels;
}

export const templateOf = ({ key }) => data.templates[key];

/** The steps of a state, with chosen numbers and current sizes; `of` is the plan. */
function stepsOf(it) {
  const template = templateOf(it), { plans } = template;
  const route = isOwnPlan(it.settings, template.settings) ? Object.values(plans)[0] : plans[planKey(it.settings)];
  if (!route) throw new Refusal("this problem has no such convention here: save it as JSON, and use attncalc");
  return { route, steps: stepsOfPlan(route, data.steps, it.settings) };
}

// ---------------------------------------------------------------- axes and sizes

/** Sets of axes that have one size: "X.2" are the rows of X, counted from behind. */
class Axes {
  constructor() { this.up = new Map(); }
  root(axis) {
    let at = axis;
    while (this.up.has(at)) at = this.up.get(at);
    return at;
  }
  unite(a, b) {
    const [one, other] = [this.root(a), this.root(b)];
    if (one !== other) this.up.set(one, other);
  }
}

const bare = (x) => (x.is === "mark" || x.is === "why" ? bare(x.parts[0]) : x);

/** The size of an axis as places reach it: W[a + columns(Q),c] has as many rows as Q and K have columns. */
function reached(place, sizes) {
  const last = { ...sizes };
  for (const part of place.parts) if (part.is === "name") last[part.name] -= 1; // an index ends before its size
  return whole(place, last) + 1;
}

/** The axes that the equations of steps tie together, the sizes that are named in them, and axes that sums of sizes reach. */
function axesOf(steps, shapes, programs) {
  const axes = new Axes(), sums = [];
  for (const [number, step] of steps.entries()) {
    const own_ = equationOf(step.equation), program = programs[number];
    for (const each of [own_, ...own_.group]) {
      const result = each === own_ ? step.name : step.rows?.[each.name] ?? each.name;
      const title = (name) => step.inputs[name] ?? step.rows?.[name] ?? (name === own_.name ? step.name : name);
      const sizes = extents(each, program.shapes, program.world.settings);
      const made = each.at.filter((_, k) => each.over[k] && !["name", "num", "call"].includes(each.over[k].is)); // sizes made of others, as p + n
      each.at.forEach((index, k) => {
        if (made.includes(index)) return;
        axes.unite(`${result}.${each.at.length - k}`, `${step.name}#${index}`);
        if (each.over[k]?.is === "name") axes.unite(`${step.name}#${index}`, `${step.name}#size ${each.over[k].name}`);
      });
      for (const x of walk(each.right)) {
        if (x.index && x.parts[1].is === "name" && x.is !== "entry") axes.unite(`${step.name}#${x.index}`, `${step.name}#size ${x.parts[1].name}`);
        if (x.is !== "entry") continue;
        x.parts.forEach((part, k) => {
          const place = bare(part), behind = x.parts.length - k, axis = `${title(x.name)}.${behind}`, size = program.shapes[x.name].at(-behind);
          if (place.is === "name" && sizes[place.name] === size && !step.settings[place.name] && !made.includes(place.name)) axes.unite(axis, `${step.name}#${place.name}`);
          else if (each === own_ && place.is === "+" && reached(place, sizes) === size) sums.push({ step, axis, place });
        });
      }
      for (const name of Object.values(step.inputs))
        if (shapes[name]?.length === 3 && shapes[result]?.length === 3 && each.at.length < 3 && shapes[name][0] > 1) axes.unite(`${name}.3`, `${result}.3`);
    }
  }
  return { axes, sums };
}

const prefixOf = (name) => name.slice(0, name.lastIndexOf(".") + 1);

/** The axis whose size a setting of a step is; null for other numbers. */
function axisOfSetting(step, name, shapes) {
  const equation = equationOf(step.equation);
  if (name === "width") return `${Object.values(step.inputs)[0]}.1`;
  const isSize = [...walk(equation.right)].some((x) => x.index && x.parts[1].name === name) || equation.over.some((x) => x?.name === name);
  if (isSize) return `${step.name}#size ${name}`;
  if (name !== "d_k") return null;
  const prefix = prefixOf(step.name), keys = ["K", "Q", "1.K", "K_1"].map((each) => prefix + each).find((each) => each in shapes) ?? "K";
  return `${keys}.1`;
}

/** A step as a program without numbers: its sizes, from the shapes of its inputs. */
function programOf(step, shapes) {
  const numbers = Object.fromEntries(Object.entries(step.settings).map(([name, typed]) => [name, readNumber(typed)]));
  const held = Object.fromEntries(Object.entries(step.inputs).map(([name, title]) => [name, shapes[title]]));
  for (const [name, table] of Object.entries(step.tables ?? {})) held[name] = table.shape;
  return new Program(equationOf(step.equation), {
    shape: (name) => held[name], setting: (name) => numbers[name], integers: () => null, matrix: () => null,
    settings: Object.fromEntries(Object.entries(numbers).map(([name, { n, d }]) => [name, Number(n) / Number(d)])),
    refuse: (why) => { throw new Refusal(why); },
  }, exactArithmetic(FIRST, () => () => null));
}

const shapeOfStep = (step, shapes) => programOf(step, shapes).shape;

const plainShape = ([h, r, c]) => (h ? [h, r, c] : [r, c]);
const shapesGiven = (given) => Object.fromEntries(Object.entries(given).map(([name, { shape }]) => [name, plainShape(shape)]));

/** Insert or remove lines at the end of an axis. */
function resized(matrix, behind, size) {
  const [h, r, c] = matrix.shape, sides = [h || 1, r, c], before = [...sides];
  sides[3 - behind] = size;
  const entries = [];
  for (let x = 0; x < sides[0]; x += 1) for (let i = 0; i < sides[1]; i += 1) for (let j = 0; j < sides[2]; j += 1)
    entries.push(x < before[0] && i < before[1] && j < before[2] ? matrix.entries[(x * r + i) * c + j] : "0");
  return { ...matrix, shape: [h ? sides[0] : 0, sides[1], sides[2]], entries };
}

/** The plan of a state: its steps with current sizes, the axes, and shapes; given matrices are made to fit. */
function planned(it) {
  const template = templateOf(it), { route, steps: listed } = stepsOf(it), first = shapesGiven(template.given);
  const before = { ...first };
  const programs = listed.map((step) => { const program = programOf(step, before); before[step.name] = program.shape; return program; });
  const { axes, sums } = axesOf(listed, before, programs), given = { ...it.given }, shapes = shapesGiven(given), sizes = new Map(), steps = [];
  const put = (axis, size) => sizes.set(axes.root(axis), size);
  const isArriving = ([name]) => given[name].role === "arriving", all = Object.entries(shapes); // it follows all others
  for (const [name, shape] of [...all.filter(isArriving), ...all.filter((each) => !isArriving(each))]) shape.forEach((size, k) => put(`${name}.${shape.length - k}`, size));
  for (const step of listed) {
    for (const name of Object.values(step.inputs)) { // a given matrix follows the size of what was computed
      if (!given[name]) continue;
      shapes[name].forEach((size, k) => {
        const behind = shapes[name].length - k, wanted = sizes.get(axes.root(`${name}.${behind}`));
        const isBroadcast = first[name][k] === 1 && size === 1;
        if (wanted && wanted !== size && !isBroadcast) given[name] = resized(given[name], behind, wanted);
      });
      shapes[name] = plainShape(given[name].shape);
    }
    const settings = { ...step.settings };
    for (const name of Object.keys(settings)) {
      const axis = axisOfSetting(step, name, shapes), [title, behind] = axis?.split(".").length === 2 && shapes[axis.slice(0, -2)] ? [axis.slice(0, -2), Number(axis.slice(-1))] : [];
      const size = title ? shapes[title][shapes[title].length - behind] : axis && sizes.get(axes.root(axis));
      if (size) settings[name] = String(size);
    }
    const fit = { ...step, settings }, { shape, numbers } = programOf(fit, shapes);
    for (const { axis, place } of sums.filter((each) => each.step === step)) {
      const [name, behind] = [axis.slice(0, -2), Number(axis.slice(-1))], size = reached(place, numbers);
      if (!given[name] || shapes[name].at(-behind) === size) continue;
      given[name] = resized(given[name], behind, size);
      shapes[name] = plainShape(given[name].shape);
    }
    shapes[step.name] = shape;
    shape.forEach((size, k) => put(`${step.name}.${shape.length - k}`, size));
    steps.push(fit);
  }
  return { route, steps, axes, shapes, given };
}

/** The sizes that can be changed: the axis of each, its name and its size. */
export function sizesNow() {
  const { axes, shapes } = plan, found = new Map();
  if (templateOf(state).isTurned) return [];
  const fixed = ["ids", "image", "past"].flatMap((role) => Object.entries(state.given).filter(([, each]) => each.role === role).map(([name]) => name));
  for (const [name, { role }] of Object.entries(state.given).filter(([each]) => own(templateOf(state).given, each)))
    shapes[name].forEach((size, k) => {
      const behind = shapes[name].length - k, root = axes.root(`${name}.${behind}`), first = plainShape(templateOf(state).given[name].shape);
      if (found.has(root) || (first[k] === 1 && role !== "tokens")) return;
      found.set(root, { axis: `${name}.${behind}`, size, said: sizeName(name, role, behind) });
    });
  for (const name of fixed) for (const behind of [1, 2, 3]) found.delete(axes.root(`${name}.${behind}`));
  const isFree = ({ axis, size }) => { // not the result of other sizes, as the rows of W_O are
    try {
      const [, name, behind] = /^(.*)\.(\d)$/.exec(axis), { shape } = planned({ ...state, given: grown(axis, size + 1) }).given[name];
      return plainShape(shape).at(-behind) === size + 1;
    } catch { return false; }
  };
  return [...found.values()].filter(isFree).filter(({ said }, k, all) => all.findIndex((each) => each.said === said) === k);
}

function sizeName(name, role, behind) {
  const short = name.slice(name.lastIndexOf(".") + 1);
  if (behind === 3) return "heads";
  if (behind === 2 && ["tokens", "projected"].includes(role)) return { X1: "queries", Q: "queries", X2: "keys", K: "keys", V: "keys" }[short] ?? "tokens";
  const known = { "X.1": "features", "X1.1": "features", "X2.1": "features of keys", "W_Q.1": "d_k", "W_K.1": "d_k", "Q.1": "d_k", "W_V.1": "d_v", "V.1": "d_v", "W_1.1": "d_ff", "W_O.1": "columns of O", "S.1": "keys", "S.2": "queries" };
  return known[`${short}.${behind}`] ?? `${behind === 1 ? "columns" : "rows"} of ${name}`;
}

// ---------------------------------------------------------------- changes

/** Compute another state, and show it; a Refusal leaves everything as it is. */
export function become(it, { remembers = true } = {}) {
  const made = planned(it), { route, axes } = made, isOwn = it.equations !== (templateOf(it).problem.equations ?? []).join("\n");
  let { steps, given } = made;
  const arriving = arrivingIn(given), isBack = arriving && (isOwn || !own(templateOf(it).given, arriving));
  if (isOwn && !arriving && steps.some(isGradient)) throw new Refusal("the gradients of this problem start from a target: save it, and use attncalc for other equations");
  if (isBack && steps.some(({ name }) => name.endsWith("_new"))) throw new Refusal("this problem has a step of gradient descent: save it, and use attncalc for other equations");
  if (isBack) steps = forwardOf(steps, given);
  if (isOwn) ({ steps, given } = stepsWith(it.equations, { steps, given }));
  if (isBack) ({ steps, given } = backFrom(steps, given, axes));
  const settings = { ...templateOf(it).settings, ...it.settings };
  const digits = templateOf(it).digits && digitsFor(given, settings, steps === made.steps ? route.longest : 2 * route.longest + 6, MOST_DIGITS);
  const found = solutionOf({ given, settings, steps, digits }, solution);
  if (state && remembers) {
    past.push(state);
    next.length = 0;
  }
  state = { ...it, given };
  [plan, solution, work] = [{ ...made, steps, shapes: Object.fromEntries(Object.entries(found.carried).map(([name, { shape }]) => [name, shape])) }, found, new Work(found, null)];
  listeners.forEach((act) => act());
}

/** A plan with its gradients, and the arriving gradient in the shape of the output. */
function backFrom(steps, given, axes) {
  const arriving = arrivingIn(given), shapes = shapesGiven(given);
  for (const step of steps) shapes[step.name] = shapeOfStep(step, shapes);
  let matrix = given[arriving];
  const shape = shapes[steps.at(-1).name];
  if (shape.length !== plainShape(matrix.shape).length) matrix = { ...matrix, shape: [0, 0, 0], entries: [] };
  shape.forEach((size, k) => { if (plainShape(matrix.shape)[k] !== size) matrix = resized(matrix, shape.length - k, size); });
  const made = withGradients(steps, { ...given, [arriving]: matrix }, { ...shapes, [arriving]: shape }), back = made.slice(steps.length);
  for (const { name, like: title } of back) shapes[name] = shapes[title];
  for (const { name, like: title } of back) shapes[name].forEach((_, k) => axes.unite(`${name}.${k + 1}`, `${title}.${k + 1}`));
  shape.forEach((_, k) => axes.unite(`${arriving}.${k + 1}`, `${steps.at(-1).name}.${k + 1}`));
  return { steps: made, given: { ...given, [arriving]: matrix } };
}

/** The name of the gradient that arrives: at the outputs of attention, or of layers. */
const arrivingName = ({ block }) => (block ? "dY" : "dO");

const isGradient = ({ title }) => title.startsWith("gradient of ");

export const hasGradients = () => plan.steps.some(isGradient);

/** Add the gradients of a problem, from ones; or remove those that were added. */
export function toggleGradients() {
  const arriving = arrivingIn(state.given), template = templateOf(state);
  if (hasGradients() && !(arriving && !own(template.given, arriving))) throw new Refusal("this problem has its gradients already");
  if (arriving) {
    const { [arriving]: _, ...given } = state.given;
    return become({ ...state, given });
  }
  if (template.isTurned) throw new Refusal("its matrices are stored in another orientation: save the problem, and use attncalc for its gradients");
  const last = plan.steps.at(-1).name, shape = plan.shapes[last];
  if (last === "prob") throw new Refusal("gradients of probabilities start from target_ids: save the problem, and use attncalc for them");
  const sides = shape.length < 3 ? [0, ...shape] : shape;
  become({ ...state, given: { ...state.given, [arrivingName(template.problem)]: { shape: sides, role: "arriving", entries: Array.from({ length: shape.reduce((all, side) => all * side, 1) }, () => "1") } } });
}

export const undo = () => past.length && (next.push(state), become(past.pop(), { remembers: false }));
export const redo = () => next.length && (past.push(state), become(next.pop(), { remembers: false }));
export const choose = (settings) => become({ ...state, settings: { ...state.settings, ...settings } });

/** The stored form of a typed entry, which may have a decimal comma; a Refusal for an invalid one. */
const entryFrom = (role, typed) => readEntry(role, withPoint(typed).replace("−", "-"));

/** Change the entries of a matrix; `texts` has them by place, or is a function of the place. */
export function edit(name, texts) {
  const { role, entries } = state.given[name], made = [...entries];
  for (const [k, typed] of Object.entries(texts)) made[k] = entryFrom(role, typed);
  if (made.some((text, k) => text !== entries[k])) become({ ...state, given: { ...state.given, [name]: { ...state.given[name], entries: made } } });
}

/** Change the size of an axis and of all that are tied to it. */
export function resize(axis, size) {
  if (!(size >= 1 && size <= MOST_SIDE)) throw new Refusal(`a size is 1 to ${MOST_SIDE}`);
  become({ ...state, given: grown(axis, size) });
}

/** The given matrices with another size of an axis. */
function grown(axis, size) {
  const { axes, shapes } = plan, root = axes.root(axis), given = { ...state.given };
  for (const name of Object.keys(given))
    shapes[name].forEach((_, k) => {
      const behind = shapes[name].length - k;
      if (axes.root(`${name}.${behind}`) === root) given[name] = resized(given[name], behind, size);
    });
  return given;
}

/** Replace a whole matrix, whose shape may differ: tied matrices follow. */
export function replaceMatrix(name, rows) {
  const own_ = state.given[name], count = own_.shape[0] || 1;
  if (!rows.length || rows.length % count || rows.some((row) => row.length !== rows[0].length)) throw new Refusal(`${name} needs rows of one length${count > 1 ? `, for ${count} heads below one another` : ""}`);
  const before = state, height = rows.length / count, width = rows[0].length;
  try {
    if (height !== own_.shape[1]) resize(`${name}.2`, height);
    if (width !== state.given[name].shape[2]) resize(`${name}.1`, width);
    const entries = rows.flat().map((typed) => entryFrom(own_.role, typed));
    become({ ...state, given: { ...state.given, [name]: { ...state.given[name], entries } } }, { remembers: false });
  } catch (error) {
    if (state !== before) become(before, { remembers: false });
    throw error;
  }
}

// ---------------------------------------------------------------- as a file

/** The problem as attncalc reads it. */
export function fileNow() {
  const template = templateOf(state), file = structuredClone(template.problem);
  for (const [name, { shape: [h, r, c], entries }] of Object.entries(state.given)) {
    const [holder, key] = holderOf(file, name), { from } = own(template.given, name) ?? {};
    const before = holder[key], placed = from ? entries.map((_, k) => entries[from.indexOf(k)]) : entries;
    const [H, R, C] = template.isTurned && own(template.given, name) ? template.given[name].given : [h, r, c];
    const row = (x, i) => placed.slice((x * R + i) * C, (x * R + i + 1) * C).map(inJson);
    const heads = Array.from({ length: H || 1 }, (_, x) => Array.from({ length: R }, (_row, i) => row(x, i)));
    holder[key] = H ? heads : before && !Array.isArray(before[0]) ? heads[0].flat() : heads[0];
  }
  putSettings(file, state.settings, template.settings);
  const lines = state.equations.split("\n").filter((line) => line.trim());
  if (lines.length) file.equations = lines;
  else delete file.equations;
  delete file.asked;
  const labels = Object.entries(state.labels).filter(([name, all]) => state.given[name] && all.some((text) => text));
  delete file.labels;
  if (labels.length) file.labels = Object.fromEntries(labels.map(([name]) => [name, namesOf(name)]));
  return file;
}

/** The names of the tokens of a matrix: as chosen, else their numbers. */
export function namesOf(name) {
  const rows = state.given[name]?.shape[1] ?? plan.shapes[name].at(-2);
  return Array.from({ length: rows }, (_, k) => own(state.labels, name)?.[k] || String(k + 1));
}

const isMatrix = (value) => Array.isArray(value) && value.length > 0 && value.flat(3).every((each) => ["number", "string"].includes(typeof each));
const PLAIN = [...SETTINGS, "labels", "title", "equations", "asked"];

/** Matrices of a file by their full names, and what else is in it. */
function taken(file, prefix = "") {
  const found = { matrices: {}, others: {} };
  for (const [key, value] of Object.entries(file)) {
    if (!prefix && PLAIN.includes(key)) continue;
    const inner = value && typeof value === "object" && !Array.isArray(value) ? [[`${prefix}${key}.`, value]]
      : key === "layers" && Array.isArray(value) ? value.map((each, k) => [`${prefix}${k + 1}.`, each]) : null;
    if (inner) for (const [at, each] of inner) { const more = taken(each, at); Object.assign(found.matrices, more.matrices); Object.assign(found.others, more.others); }
    else if (isMatrix(value)) found.matrices[prefix + key] = value;
    else found.others[prefix + key] = value;
  }
  return found;
}

const sidesOfArray = (value) => (Array.isArray(value[0]) ? (Array.isArray(value[0][0]) ? [value.length, value[0].length, value[0][0].length] : [0, value.length, value[0].length]) : [0, 1, value.length]);

/** The state of a file of attncalc; a Refusal where no template has its fields. */
export function stateOfFile(file) {
  const { matrices, others } = taken(file), names = Object.keys(matrices).sort();
  const equations = (Array.isArray(file.equations) ? file.equations : file.equations ? [file.equations] : []).join("\n");
  const fits = ([, { problem, given }]) => {
    const theirs = taken(problem);
    const added = Object.keys(given).some((name) => given[name].role === "arriving") ? [] : [arrivingName(problem)];
    return Object.keys(given).sort().join() === names.filter((name) => !added.includes(name)).join() && JSON.stringify(theirs.others) === JSON.stringify(others);
  };
  const same = Object.entries(data.templates).filter(fits);
  const [key] = same.find(([, { problem }]) => (problem.equations ?? []).join("\n") === equations) ?? same.find(([, { problem }]) => !problem.equations) ?? [];
  if (!key) throw new Refusal(`this page has no problem with the fields ${[...Object.keys(matrices), ...Object.keys(others)].join(", ")}: make one with attncalc playground FILE -o page.html`);
  const it = stateOf(key), defaults = { scale: "sqrt_dk", causal: false, softcap: null, normalizer: "softmax", rounding: "display", decimals: 2 };
  for (const [name, value] of Object.entries(matrices)) {
    const role = it.given[name]?.role ?? "arriving", shape = sidesOfArray(value);
    it.given[name] = { role, shape, entries: value.flat(2).map((each) => entryFrom(role, String(each))) };
  }
  for (const name of SETTINGS) it.settings[name] = settingFrom(name, String(file[name] ?? defaults[name] ?? "none"), it.settings);
  it.labels = Array.isArray(file.labels) ? { X: file.labels.map(String) } : Object.fromEntries(Object.entries(file.labels ?? {}).map(([name, all]) => [name, all.map(String)]));
  return { ...it, equations };
}

/** A typed or chosen setting; a Refusal for an invalid one. */
export const settingFrom = (name, typed, now = state.settings) => readSetting(name, typed, ["softmax", "hardmax", now.normalizer]);

// ---------------------------------------------------------------- the address

/** The state as the part of an address after #: only what differs from the template. */
export function addressNow() {
  const template = templateOf(state), base = stateOf(state.key), parts = [`problem=${encodeURIComponent(state.key)}`];
  for (const [name, { shape: [h, r, c], entries }] of Object.entries(state.given)) {
    if (entries.join() === base.given[name]?.entries.join() && String([h, r, c]) === String(template.given[name].shape)) continue;
    const rows = Array.from({ length: (h || 1) * r }, (_, i) => entries.slice(i * c, (i + 1) * c).join(","));
    const heads = Array.from({ length: h || 1 }, (_, x) => rows.slice(x * r, (x + 1) * r).join(";"));
    parts.push(`${encodeURIComponent(name)}=${heads.join("|")}`);
  }
  parts.push(...inAddress(state.settings, template.settings));
  for (const [name, all] of Object.entries(state.labels))
    if (JSON.stringify(all) !== JSON.stringify(base.labels[name])) parts.push(`names.${encodeURIComponent(name)}=${all.map(encodeURIComponent).join(",")}`);
  if (state.equations !== base.equations) parts.push(`equations=${encodeURIComponent(state.equations)}`);
  return parts.join("&");
}

/** The state of an address, and how many of its parts cannot be read. */
export function stateOfAddress(text) {
  const parts = text.split("&").filter(Boolean).map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]);
  const [, key = data.first] = parts.find(([name]) => name === "problem") ?? [];
  let it, wrong = 0;
  try { it = stateOf(decodeURIComponent(key)); } catch { [it, wrong] = [stateOf(data.first), 1]; }
  for (const [left, right] of parts) {
    try {
      const name = decodeURIComponent(left);
      if (name === "problem") continue;
      if (own(it.given, name) || name === arrivingName(templateOf(it).problem)) {
        const heads = right.split("|").map((head) => head.split(";").map((row) => row.split(",").map(decodeURIComponent)));
        if (heads.flat().some((row) => row.length !== heads[0][0].length) || heads.some((head) => head.length !== heads[0].length)) throw new Refusal("rows differ");
        const { role, shape: [h] } = it.given[name] ?? { role: "arriving", shape: [0] };
        it.given[name] = { role, shape: [h && heads.length, heads[0].length, heads[0][0].length], entries: heads.flat(2).map((typed) => entryFrom(role, typed)) };
      } else if (SETTINGS.includes(name)) it.settings[name] = settingFrom(name, decodeURIComponent(right), it.settings);
      else if (name.startsWith("names.") && own(it.given, name.slice(6))) it.labels = { ...it.labels, [name.slice(6)]: right.split(",").map(decodeURIComponent) };
      else if (name === "equations") it.equations = decodeURIComponent(right);
      else wrong += 1;
    } catch { wrong += 1; }
  }
  return { it, wrong };
}
