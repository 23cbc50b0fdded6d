// The current problem: given matrices, edits, and conventions.

import { byId, own } from "./elements.js";
import { digitsFor } from "./equations/digits.js";
import { Refusal, asWritten, readNumber } from "./numbers.js";

export const CONTROLS = ["scale", "causal", "softcap", "normalizer", "rounding", "decimals"];
export const NUMBERED = /^[+-]?[0-9.]/;

export const data = read();
const base = Object.fromEntries(CONTROLS.map((name) => [name, data.settings[name]]));
const AS_GIVEN = { edits: {}, settings: base };
/** What was edited, by matrix and place in it as it was given; and the settings. */
export let state = AS_GIVEN;
export const become = (next) => void (state = next);
export const baseState = () => AS_GIVEN;
export const isBase = () => !Object.keys(state.edits).length && CONTROLS.every((name) => state.settings[name] === base[name]);
export const byColumns = data.settings.layout === "columns";

function read() {
  const found = JSON.parse(byId("problem").textContent);
  for (const given of Object.values(found.given)) given.from ??= given.entries.map((_, k) => k);
  return found;
}

// ---------------------------------------------------------------- plans

/** The problem's own plan, whose number may be 1. */
export const basePlan = data.plans[Object.keys(data.plans)[0]];
/** Whether there are plans for other conventions. */
export const hasPlans = Object.keys(data.plans).length > 1;

/** What the plan depends on, of all that can be set: as in data.py. */
function planKey(settings) {
  const isNumber = NUMBERED.test(settings.scale) && asWritten(readNumber(settings.scale)) !== "1";
  const scale = isNumber ? "number" : settings.scale === "sqrt_dk" ? "sqrt_dk" : "none"; // multiplied by 1, nothing is scaled
  return `${scale}|${settings.causal}|${settings.softcap === null ? "none" : "number"}|${settings.normalizer}`;
}

export function planNow() {
  const isOwn = CONTROLS.slice(0, 4).every((name) => state.settings[name] === base[name]);
  return isOwn ? basePlan : hasPlans ? data.plans[planKey(state.settings)] : undefined;
}

export function stepsNow() {
  const found = planNow();
  if (!found) throw new Refusal("this page cannot use these conventions: run attncalc");
  return found.steps.map((place) => {
    const step = data.steps[place], chosen = Object.entries(step.chosen ?? {});
    if (!chosen.length) return step;
    return { ...step, settings: { ...step.settings, ...Object.fromEntries(chosen.map(([name, of]) => [name, state.settings[of]])) } };
  });
}

// ---------------------------------------------------------------- the problem

let last = {};

/** A given matrix in the layout of the plan, with its edits; cached until the next edit. */
function givenNow(name, given) {
  const edited = own(state.edits, name);
  if (!edited) return given;
  if (last[name]?.edited !== edited) {
    const entries = given.entries.map((typed, k) => own(edited, given.from[k]) ?? typed);
    last = { ...last, [name]: { edited, matrix: { ...given, entries } } };
  }
  return last[name].matrix;
}

/** What the script computes. */
export function problemNow() {
  const given = Object.fromEntries(Object.entries(data.given).map(([name, each]) => [name, givenNow(name, each)]));
  const settings = { ...data.settings, ...state.settings }, steps = stepsNow(), { most, longest } = planNow();
  return { given, settings, steps, digits: isBase() || !data.digits ? data.digits : digitsFor(given, settings, longest, most) };
}

export function typedNow({ name, flat }) {
  const { entries, from } = data.given[name];
  return own(own(state.edits, name) ?? {}, flat) ?? entries[from.indexOf(flat)];
}

/** X[1,2], or X[1,1,2] of a head. */
export function nameOf({ name, flat }) {
  const [h, r, c] = data.given[name].given;
  const place = [(Math.floor(flat / c) % r) + 1, (flat % c) + 1];
  return `${name}[${(h ? [Math.floor(flat / (r * c)) + 1, ...place] : place).join(",")}]`;
}

/** A number in JSON: a float if that is exact, else its text. */
const inJson = (typed) =>
  (typed.includes("/") || typed === "-inf" || asWritten(readNumber(String(Number(typed)))) !== typed ? typed : Number(typed));

/** The problem as a file that attncalc reads. */
export function fileNow() {
  const file = structuredClone(data.problem);
  for (const [name, edits] of Object.entries(state.edits)) {
    const path = name.split(".");
    let holder = file;
    path.slice(0, -1).forEach((part) => (holder = /^[0-9]+$/.test(part) ? holder.layers[part - 1] : holder[part]));
    const [, r, c] = data.given[name].given;
    for (const [flat, typed] of Object.entries(edits)) {
      let rows = holder[path.at(-1)];
      if (Array.isArray(rows[0][0])) rows = rows[Math.floor(flat / (r * c))];
      if (Array.isArray(rows[0])) rows[Math.floor(flat / c) % r][flat % c] = inJson(typed);
      else rows[flat] = inJson(typed);
    }
  }
  for (const name of CONTROLS) {
    const value = state.settings[name];
    if (value === base[name]) continue;
    if (value === null) delete file[name];
    else file[name] = value;
  }
  if (planNow() !== basePlan) delete file.asked;
  return `${JSON.stringify(file, null, 1)}\n`;
}

// ---------------------------------------------------------------- what can be set

/** The stored form of a typed entry; a Refusal for an invalid one. */
export function entryFrom(name, typed) {
  const { role } = data.given[name];
  if (role === "scores" && /^-(inf|∞)$/.test(typed.trim())) return "-inf";
  const text = asWritten(readNumber(typed));
  if (role === "marks" && !["0", "1"].includes(text)) throw new Refusal("1 or 0 is needed");
  return text;
}

/** A typed or chosen setting; a Refusal for an invalid one. */
export function settingFrom(name, typed) {
  if (name === "causal") return typed === "true";
  if (name === "rounding" && ["display", "each-step"].includes(typed)) return typed;
  if (name === "decimals" && /^([0-9]|1[0-2])$/.test(typed)) return Number(typed);
  if (name === "scale") return ["sqrt_dk", "none"].includes(typed) ? typed : asWritten(readNumber(typed));
  if (name === "softcap") {
    if (["", "none"].includes(typed)) return null;
    const cap = readNumber(typed);
    if (cap.n <= 0n) throw new Refusal("a cap is a number above 0");
    return asWritten(cap);
  }
  if (name === "normalizer" && [base.normalizer, "hardmax"].includes(typed)) return typed;
  throw new Refusal(`"${typed}" is no ${name}`);
}

export const settingsOfBase = () => base;

/** The edits with one more; a number equal to the given one is not an edit. */
export function edited(edits, name, flat, text) {
  const { entries, from } = data.given[name];
  const found = { ...(own(edits, name) ?? {}), [flat]: text };
  if (entries[from.indexOf(Number(flat))] === text) delete found[flat];
  const { [name]: _, ...others } = edits;
  return Object.keys(found).length ? { ...others, [name]: found } : others;
}
