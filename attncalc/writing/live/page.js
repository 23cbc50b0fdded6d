// The interactive page: it explains the entry under the pointer, and computes edits at once.

import { readAddress } from "./address.js";
import { change } from "./changing.js";
import { startControls } from "./controls.js";
import { conventionControls } from "./conventions.js";
import { state } from "./edited.js";
import { live, main, make, say } from "./elements.js";
import { keep } from "./rendering.js";
import { solved } from "./solved.js";
import { startStepping } from "./stepping.js";
import { startTelling } from "./telling.js";
import { tried } from "./trying.js";

/** Apply the state of the address, and report its invalid parts. */
function readAgain() {
  const { next, wrong } = readAddress();
  if (JSON.stringify(next) !== JSON.stringify(state)) change(next);
  if (wrong) say(`${wrong} of the changes in the address cannot be read, and ${wrong === 1 ? "is" : "are"} left out.`);
}

/** Work that takes a moment and can wait until the page is visible. */
function prepare() {
  const isKnown = tried(solved, (reason) =>
    main.prepend(make("p", { class: "live" }, `This page is not interactive: ${reason}.`)));
  if (isKnown) keep();
}

/** Make the page interactive. */
export function start() {
  live();
  startControls(conventionControls());
  startStepping();
  startTelling();
  window.addEventListener("hashchange", readAgain);
  if (location.hash.length > 1) readAgain();
  setTimeout(prepare, 200);
}
