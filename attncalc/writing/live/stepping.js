// One step at a time, with its equation.

import { afterChange } from "./changing.js";
import { all, button, rest } from "./elements.js";

let at = null;
const walk = button("Step by step", () => show(at === null ? 0 : null));
const back = button("Step back", () => show(at - 1));
const forward = button("Step forward", () => show(at + 1));
export const stepButtons = () => [walk, back, forward];

/** Show one of the steps that are taken, or all of them. */
function show(place) {
  const sections = all("section.step"), taken = sections.filter((each) => !each.classList.contains("not-taken"));
  at = place === null ? null : Math.min(Math.max(place, 0), taken.length - 1);
  for (const each of sections) each.classList.toggle("not-shown", at !== null && each !== taken[at]);
  back.hidden = forward.hidden = at === null;
  walk.setAttribute("aria-pressed", String(at !== null));
  walk.textContent = at === null ? "Step by step" : `All steps (now ${at + 1} of ${taken.length})`;
  if (at === null) return;
  rest(back, at === 0);
  rest(forward, at === taken.length - 1);
  taken[at].scrollIntoView({ block: "nearest" });
}

export function startStepping() {
  show(null);
  afterChange(() => at !== null && show(at));
}
