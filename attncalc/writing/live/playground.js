// The playground: attention of any numbers in one page, which needs no installation.

import { DECIMALS, button, byId, labelled, make, say, select } from "./elements.js";
import { EXPORTS, command } from "./playground/exporting.js";
import { close, learn, panel, practice, startLearning } from "./playground/learn.js";
import { bar, play, startPlayer, stop } from "./playground/player.js";
import { addressNow, afterChange, become, canRedo, canUndo, choose, data, hasGradients, redo, settingFrom, state, stateOf, stateOfAddress, templateOf, toggleGradients, undo } from "./playground/state.js";
import { SETTINGS } from "./settings.js";
import { below, dock, flow, render, startView } from "./playground/view.js";
import { tried } from "./trying.js";

const groups = [...new Set(Object.values(data.templates).map((each) => each.group))];
const kind = make("select", { "aria-label": "Problem", onchange: () => start_(kind.value) }, ...groups.map((group) => make("optgroup", { label: group },
  ...Object.entries(data.templates).filter(([, each]) => each.group === group).map(([key, each]) => make("option", { value: key }, each.title)))));
const undoing = button("Undo", () => tried(undo)), redoing = button("Redo", () => tried(redo)), commandLine = make("code", {});
const equations = make("textarea", { rows: 6, spellcheck: false, "aria-label": "Equations, one per line" }), wrong = make("p", { role: "alert", class: "wrong" });
let isWaiting = 0;

function start_(key, isBlank = false) {
  close();
  tried(() => become(stateOf(key, isBlank)));
}

const chosen = (name, choices) => select({ "data-setting": name, onchange: set }, choices);
const typed = (name) => make("input", { type: "text", size: 7, "data-setting": name, autocomplete: "off", onchange: set });

function set({ target }) {
  const name = target.dataset.setting, value = target.type === "checkbox" ? String(target.checked) : target.value;
  if (!tried(() => choose({ [name]: settingFrom(name, value) }))) showSettings();
}

const settings = make("details", { class: "menu" }, make("summary", {}, "Conventions"), make("div", {},
  labelled("Scale: sqrt_dk, none or a number", typed("scale")),
  labelled("Causal mask", make("input", { type: "checkbox", "data-setting": "causal", onchange: set })),
  labelled("Softcap: a number or none", typed("softcap")),
  labelled("Normalizer", chosen("normalizer", [["softmax", "softmax"], ["hardmax", "hardmax"]])),
  labelled("Rounding", chosen("rounding", [["display", "only what is shown"], ["each-step", "after each step"]])),
  labelled("Gradients of all given matrices", make("input", { type: "checkbox", id: "gradients", onchange: () => tried(toggleGradients) || showSettings() })),
  labelled("Decimals", chosen("decimals", DECIMALS))));

function showSettings() {
  for (const name of SETTINGS) {
    const control = settings.querySelector(`[data-setting="${name}"]`), value = state.settings[name];
    if (control.type === "checkbox") control.checked = value;
    else {
      if (control.matches("select") && ![...control.options].some((each) => each.value === String(value))) control.append(make("option", { value }, String(value)));
      control.value = value ?? "none";
    }
  }
  byId("gradients").checked = hasGradients();
}

const own = make("details", { class: "menu wide" }, make("summary", {}, "Equations"), make("div", {},
  make("p", {}, "Each line replaces the step with its name, or adds a step: S[i,j] = sum(Q[i,c] * K[j,c] for c in d_k)  # title"),
  equations, wrong, make("div", { class: "buttons" }, button("Apply", () => {
    wrong.textContent = "";
    tried(() => become({ ...state, equations: equations.value }), (why) => { wrong.textContent = `Not changed: ${why}.`; });
  }))));

function share() {
  const address = location.href;
  const done = () => say("The link to this problem is copied: it contains all numbers.");
  if (window.navigator.clipboard) window.navigator.clipboard.writeText(address).then(done, () => say(`Copy the address of this page: ${address}`));
  else say("Copy the address of this page: it contains all numbers.");
}

const exporting = make("details", { class: "menu" }, make("summary", {}, "Export"), make("div", {}, ...EXPORTS.map(([text, act]) => button(text, () => tried(act))),
  make("p", {}, "In a terminal: ", commandLine)));

function showState() {
  render();
  kind.value = state.key;
  showSettings();
  equations.value = state.equations;
  commandLine.textContent = command();
  undoing.disabled = !canUndo();
  redoing.disabled = !canRedo();
  clearTimeout(isWaiting);
  isWaiting = setTimeout(() => {
    const { pathname, search } = location, part = addressNow();
    window.history.replaceState(null, "", part === `problem=${data.first}` ? pathname + search : `#${part}`);
  }, 50);
}

function readAddress(text) {
  const { it, wrong: count } = stateOfAddress(text);
  if (!tried(() => become(it))) become(stateOf(data.first));
  if (count) say(`${count} ${count === 1 ? "part" : "parts"} of the address cannot be read, and ${count === 1 ? "is" : "are"} left out.`);
}

/** Make the page. */
export function start() {
  const root = byId("playground");
  root.replaceChildren(
    make("header", { class: "bar" }, make("h1", {}, "Attention, by hand"), kind,
      make("div", { class: "buttons" }, button("Play", () => (close(), play())), button("Blank", () => start_(state.key, true)), undoing, redoing, button("Share", share),
        button("Learn", () => (stop(), learn())), button("Practice", () => (stop(), practice())), settings, own, exporting)),
    ...below.slice(0, 1), bar, make("div", { class: "body" }, flow, panel), dock, ...below.slice(1));
  document.addEventListener("click", (event) => { for (const each of root.querySelectorAll("details.menu[open]")) if (!each.contains(event.target)) each.open = false; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") for (const each of root.querySelectorAll("details.menu[open]")) { each.open = false; each.firstChild.focus(); } });
  afterChange(showState);
  startView();
  startPlayer();
  startLearning();
  readAddress(location.hash.slice(1) || JSON.parse(byId("start").textContent));
  window.addEventListener("hashchange", () => { if (location.hash.slice(1) !== addressNow()) readAddress(location.hash.slice(1)); });
  if (templateOf(state).note) say(templateOf(state).note);
}
