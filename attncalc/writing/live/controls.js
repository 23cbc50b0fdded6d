// The controls above the page: conventions, undo and reset, and the problem as a file.

import { afterChange, choose, hasPast, reset, undo } from "./changing.js";
import { fileNow, isBase, state } from "./edited.js";
import { DECIMALS, button, labelled, main, make, rest, save, say, select, whereItIsSaid } from "./elements.js";
import { finder } from "./finding.js";
import { stepButtons } from "./stepping.js";

const HELP = "Point at a number, or move to it with Tab and the arrow keys, to see its inputs and its calculation. "
  + "Click to pin it; press Enter to go to its inputs, n and p for the next and previous, "
  + "Backspace to go back. To edit a given number, type or tap it.";

const undoing = button("Undo", undo), resetting = button("Reset", reset);
const json = make("textarea", { readonly: true, hidden: true, rows: 8, "aria-label": "The problem as JSON" });

const chosen = (name, choices) => select({ "data-setting": name, onchange: (event) => choose(name, event.target.value) }, choices);

const settings = () => [
  labelled("Rounding", chosen("rounding", [["display", "display: round only for display"], ["each-step", "each-step: round after each step"]])),
  labelled("Decimals", chosen("decimals", DECIMALS)),
];

/** Show the current settings in the controls. */
function show(root) {
  for (const control of root.querySelectorAll("[data-setting]")) {
    const value = state.settings[control.dataset.setting];
    if (control.type === "checkbox") control.checked = value;
    else control.value = value ?? "none";
  }
  rest(undoing, !hasPast());
  rest(resetting, isBase());
}

function copy() {
  const text = fileNow();
  const shown = () => {
    json.hidden = false;
    json.value = text;
    json.select();
    say("Copy the problem from below.");
  };
  if (!window.navigator.clipboard) return shown();
  return window.navigator.clipboard.writeText(text).then(() => say("Copied."), shown);
}

/** Insert the controls above the page, after those of conventions that only some pages have. */
export function startControls(others) {
  const files = [button("Copy as JSON", copy), button("Download problem", () => save(fileNow(), "problem.json"))];
  const root = make("div", { class: "live", role: "region", "aria-label": "Controls" },
    make("details", { class: "conventions", open: innerWidth > 700 },
      make("summary", {}, "Change the conventions"), make("div", { class: "settings" }, ...others, ...settings())),
    make("div", { class: "buttons" }, undoing, resetting, ...files, ...stepButtons()), ...finder(),
    whereItIsSaid(), json, make("details", {}, make("summary", {}, "How to use this page"), make("p", {}, HELP)));
  main.before(root);
  show(root);
  afterChange(() => show(root));
}
