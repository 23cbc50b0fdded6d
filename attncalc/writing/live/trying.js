// A change that may be refused.

import { say } from "./elements.js";
import { Refusal } from "./numbers.js";

/** Act; report why it is refused, if it is. */
export function tried(act, refused = (reason) => say(`Not changed: ${reason}.`)) {
  try {
    act();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof SyntaxError)) throw error;
    refused(error.message);
    return false;
  }
}
