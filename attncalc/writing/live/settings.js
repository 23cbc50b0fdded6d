// What can be set and typed of a problem, on its page and in the playground.

import { Refusal, asWritten, readNumber } from "./numbers.js";

export const SETTINGS = ["scale", "causal", "softcap", "normalizer", "rounding", "decimals"];
export const NUMBERED = /^[+-]?[0-9.]/;

/** The settings that differ. */
export const differing = (settings, base) => SETTINGS.filter((name) => settings[name] !== base[name]);
/** Whether the plan of the problem as it was given is that of some settings. */
export const isOwnPlan = (settings, base) => SETTINGS.slice(0, 4).every((name) => settings[name] === base[name]);

/** What the plan depends on, of all that can be set: as in data.py. */
export function planKey({ scale, causal, softcap, normalizer }) {
  const isNumber = NUMBERED.test(scale) && asWritten(readNumber(scale)) !== "1"; // multiplied by 1, nothing is scaled
  return `${isNumber ? "number" : scale === "sqrt_dk" ? scale : "none"}|${causal}|${softcap === null ? "none" : "number"}|${normalizer}`;
}

/** The steps of a plan, with the chosen numbers. */
export const stepsOf = (plan, steps, settings) => plan.steps.map((place) => {
  const step = steps[place], chosen = Object.entries(step.chosen ?? {});
  return chosen.length ? { ...step, settings: { ...step.settings, ...Object.fromEntries(chosen.map(([name, of]) => [name, settings[of]])) } } : step;
});

/** The equation of a step, with the chosen numbers. */
export const formulaIn = ({ formula, chosen = {} }, settings) => Object.values(chosen).reduce((text, of) => text.replaceAll("#", settings[of]), formula);

/** The stored form of a typed entry; a Refusal for an invalid one. */
export function entryFrom(role, typed) {
  if (role === "scores" && /^-(inf|∞)$/.test(typed.trim())) return "-inf";
  const text = asWritten(readNumber(typed));
  if (role === "marks" && !["0", "1"].includes(text)) throw new Refusal("1 or 0 is needed");
  return text;
}

/** A typed or chosen setting; a Refusal for an invalid one. */
export function settingFrom(name, typed, normalizers) {
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
  if (name === "normalizer" && normalizers.includes(typed)) return typed;
  throw new Refusal(`"${typed}" is no ${name}`);
}

/** The parts of an address with the settings that differ. */
export const inAddress = (settings, base) => differing(settings, base).map((name) => `${name}=${encodeURIComponent(settings[name] ?? "none")}`);

// ---------------------------------------------------------------- as a file

/** A number in JSON: a float if that is exact, else its text. */
export const inJson = (typed) => (typed.includes("/") || typed === "-inf" || asWritten(readNumber(String(Number(typed)))) !== typed ? typed : Number(typed));

/** What holds a matrix in a file, and its name there. */
export function holderOf(file, name) {
  const path = name.split("."), last = path.pop();
  return [path.reduce((holder, part) => (/^[0-9]+$/.test(part) ? holder.layers[part - 1] : holder[part]), file), last];
}

/** Put the settings that differ into a file. */
export function putSettings(file, settings, base) {
  for (const name of differing(settings, base))
    if (settings[name] === null) delete file[name];
    else file[name] = settings[name];
}
