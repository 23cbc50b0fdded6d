// The current problem: given matrices, edits, and conventions.

import { byId, own } from "./elements.js";
import { digitsFor } from "./equations/digits.js";
import { Refusal } from "./numbers.js";
import { SETTINGS, differing, entryFrom as readEntry, holderOf, inJson, isOwnPlan, planKey, putSettings, settingFrom as readSetting, stepsOf } from "./settings.js";

export const data = read();
const base = Object.fromEntries(SETTINGS.map((name) => [name, data.settings[name]]));
const AS_GIVEN = { edits: {}, settings: base };
/** What was edited, by matrix and place in it as it was given; and the settings. */
export let state = AS_GIVEN;
export const become = (next) => void (state = next);
export const baseState = () => AS_GIVEN;
export const isBase = () => !Object.keys(state.edits).length && !differing(state.settings, base).length;
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

export const planNow = () => (isOwnPlan(state.settings, base) ? basePlan : hasPlans ? data.plans[planKey(state.settings)] : undefined);

export function stepsNow() {
  const found = planNow();
  if (!found) throw new Refusal("this page cannot use these conventions: run attncalc");
  return stepsOf(found, data.steps, state.settings);
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

/** The problem as a file that attncalc reads. */
export function fileNow() {
  const file = structuredClone(data.problem);
  for (const [name, edits] of Object.entries(state.edits)) {
    const [holder, key] = holderOf(file, name);
    const [, r, c] = data.given[name].given;
    for (const [flat, typed] of Object.entries(edits)) {
      let rows = holder[key];
      if (Array.isArray(rows[0][0])) rows = rows[Math.floor(flat / (r * c))];
      if (Array.isArray(rows[0])) rows[Math.floor(flat / c) % r][flat % c] = inJson(typed);
      else rows[flat] = inJson(typed);
    }
  }
  putSettings(file, state.settings, base);
  if (planNow() !== basePlan) delete file.asked;
  return `${JSON.stringify(file, null, 1)}\n`;
}

// ---------------------------------------------------------------- what can be set

/** The stored form of a typed entry; a Refusal for an invalid one. */
export const entryFrom = (name, typed) => readEntry(data.given[name].role, typed);

/** A typed or chosen setting; a Refusal for an invalid one. */
export const settingFrom = (name, typed) => readSetting(name, typed, [base.normalizer, "hardmax"]);

export const settingsOfBase = () => base;

/** The edits with one more; a number equal to the given one is not an edit. */
export function edited(edits, name, flat, text) {
  const { entries, from } = data.given[name];
  const found = { ...(own(edits, name) ?? {}), [flat]: text };
  if (entries[from.indexOf(Number(flat))] === text) delete found[flat];
  const { [name]: _, ...others } = edits;
  return Object.keys(found).length ? { ...others, [name]: found } : others;
}
