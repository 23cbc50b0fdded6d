// A worksheet to fill in that marks nothing: neither the page nor its script can compute an answer.

import { boxes, open, walk } from "./boxes.js";

export function start() {
  open([], ["Your answers stay in this browser.", "Download them as a file for attncalc check, or print the page."]);
  for (const { input } of boxes.values()) input.addEventListener("keydown", walk);
}
