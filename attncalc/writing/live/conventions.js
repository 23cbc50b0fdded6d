// Conventions that change the plan, if a page contains plans for them: scale, mask and cap.

import { forgetCells } from "./cells.js";
import { afterChange, choose, set } from "./changing.js";
import { basePlan, byColumns, data, hasPlans, settingsOfBase, state } from "./edited.js";
import { all, byId, ENTRY, labelled, make } from "./elements.js";
import { given as asGiven, written } from "./expressions.js";
import { asWritten, readNumber } from "./numbers.js";
import { arrangeBy } from "./rendering.js";
import { NUMBERED } from "./settings.js";
import { shapeOf } from "./solved.js";

const SLIDER_STEPS = 40;
const hasLimits = settingsOfBase().normalizer === "softmax";
const beta = make("input", { type: "range", min: 0, max: SLIDER_STEPS, step: 1, oninput: () => slide(Number(beta.value)) });
const betaSays = make("output");
const ofAll = Object.keys(data.weights).length > 1 ? " of every attention" : "";
const equations = new Map(); // as they were written

/** The controls of conventions that change the plan: none if a page contains only its own. */
export function conventionControls() {
  if (!hasPlans) return [];
  arrangeBy(arrange);
  afterChange(showBeta);
  showBeta();
  return controls();
}

// ---------------------------------------------------------------- controls

const typed = (name) => make("input", { type: "text", size: 7, "data-setting": name, autocomplete: "off", onchange: (event) => choose(name, event.target.value) });

/** What can be set here. */
const controls = () => [
  labelled(`Scale${ofAll}: sqrt_dk, none or a number`, typed("scale")),
  hasLimits && labelled("β, which multiplies the scores: from 0 (equal weights) to ∞ (only the largest score)", make("span", {}, beta, betaSays)),
  labelled(`Causal${ofAll && ": self-attention"}`, make("input", { type: "checkbox", "data-setting": "causal", onchange: (event) => set({ causal: event.target.checked }) })),
  labelled(`Softcap${ofAll}: a number, or none`, typed("softcap")),
].filter(Boolean);

/** Set β: at the end of the slider, the largest score has weight 1. */
function slide(value) {
  const isLimit = value === SLIDER_STEPS;
  set({
    scale: isLimit ? "none" : asWritten({ n: BigInt(value), d: 10n }),
    normalizer: isLimit ? "hardmax" : settingsOfBase().normalizer,
  });
}

/** Show the position of the slider, and its β. */
function showBeta() {
  const { scale, normalizer } = state.settings;
  const isLimit = normalizer === "hardmax";
  const number = NUMBERED.test(scale) ? readNumber(scale) : null;
  const width = data.steps.find((step) => step.settings.d_k)?.settings.d_k ?? 1;
  const own = number ? Number((number.n * 10n) / number.d) : scale === "none" ? 10 : Math.round(10 / Math.sqrt(width));
  beta.value = isLimit ? SLIDER_STEPS : Math.min(SLIDER_STEPS - 1, own); // the last place is hardmax
  const says = isLimit ? "∞: hardmax" : number ? scale : scale === "none" ? "1: not scaled" : "1/√d_k";
  betaSays.textContent = ` β = ${says}`;
  beta.setAttribute("aria-valuetext", says);
}

// ---------------------------------------------------------------- steps of other plans

/** Hide sections of steps that are not taken now, and make those that were not there. */
function arrange(steps, areOthers) {
  if (areOthers) arrangeSections(steps);
  steps.forEach(showEquation);
}

function arrangeSections(steps) {
  const there = new Set(steps.map((step) => step.name));
  for (const section of all("section.step")) section.classList.toggle("not-taken", !there.has(section.id.slice(5)));
  let last = null;
  for (const step of steps) {
    let section = byId(`step-${step.name}`);
    if (!section) {
      const beside = last ?? all("section.step")[0]; // where scores are given, none of theirs may be there
      section = sectionLike(beside, step);
      if (last) last.after(section);
      else beside.before(section);
    }
    last = section;
  }
  forgetCells();
}

/** The equation of a step; a number that was chosen is in its place. */
const equationOf = ({ formula, chosen = {} }, settings) =>
  Object.values(chosen).reduce((text, of) => text.replaceAll("#", written(asGiven(readNumber(settings[of])))), formula);

/** The equation that a step has in the problem's own plan. */
function ownEquation(name) {
  const place = basePlan.steps.find((each) => data.steps[each].name === name);
  return place === undefined ? place : equationOf(data.steps[place], settingsOfBase());
}

/** Write an equation with a chosen number; others are unchanged. */
function showEquation(step) {
  const equation = byId(`step-${step.name}`)?.querySelector(".equation");
  if (!equation) return;
  const said = equationOf(step, state.settings);
  if (said !== ownEquation(step.name)) {
    if (!equations.has(equation)) equations.set(equation, [...equation.childNodes]);
    if (equation.textContent !== `${said} =`) equation.replaceChildren(`${said} =`);
  } else if (equations.has(equation)) {
    equation.replaceChildren(...equations.get(equation));
    equations.delete(equation);
  }
}

/** A section for a step that was not there, as that of a step of the same shape. */
function sectionLike(other, step) {
  const section = (byId("step-S") ?? other).cloneNode(true);
  section.id = `step-${step.name}`;
  section.className = "step made";
  const [h, r, c] = shapeOf(step.name);
  const [rows, columns] = byColumns ? [c, r] : [r, c];
  section.querySelector("h2").replaceChildren(`${step.name}: ${step.title}, ${h ? `${h} heads of ` : ""}${rows} × ${columns}`);
  for (const gone of section.querySelectorAll("details, p, figure, svg, ul")) gone.remove();
  section.querySelector(".equation")?.setAttribute("aria-label", `Equation of ${step.name}`);
  for (const table of section.querySelectorAll("table")) {
    const { head } = table.dataset;
    const called = step.name + (head ? `, head ${head}` : "");
    table.dataset.step = step.name;
    table.querySelector("caption").replaceChildren(called);
    table.parentElement.setAttribute("aria-label", called);
    for (const cell of table.querySelectorAll(ENTRY)) {
      cell.id = `${step.name}-${head ? `h${head}-` : ""}${cell.dataset.row}-${cell.dataset.column}`;
      cell.className = "";
    }
  }
  return section;
}
