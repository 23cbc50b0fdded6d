// Every change of the problem: edits, conventions, undo and reset.

import { writeAddress } from "./address.js";
import { baseState, become, edited, entryFrom, isBase, settingFrom, state } from "./edited.js";
import { say } from "./elements.js";
import { render } from "./rendering.js";
import { tried } from "./trying.js";

const past = [], listeners = [];
export const hasPast = () => past.length > 0;
/** Act after every change, with whether the page is the previous one, and after a refused change. */
export const afterChange = (act) => void listeners.push(act);
const tell = (isSame) => listeners.forEach((act) => act(isSame));

/** Apply another state if it can be computed; otherwise report why not. */
export function change(next, { remembers = true, said } = {}) {
  const before = state, isChange = JSON.stringify(next) !== JSON.stringify(before);
  let isSame = true;
  become(next);
  if (!tried(() => (isSame = render()), said)) {
    become(before);
    tell(true);
    return;
  }
  if (remembers && isChange) past.push(before);
  writeAddress();
  say(isBase() ? "As given." : "Recalculated.");
  tell(isSame);
}

/** Change a given number; the caller reports a refusal. */
export const edit = (name, flat, typed, said) =>
  change({ ...state, edits: edited(state.edits, name, flat, entryFrom(name, typed)) }, { said });
export const set = (settings) => change({ ...state, settings: { ...state.settings, ...settings } });

/** Set a typed or chosen value; report an invalid one. */
export function choose(name, typed) {
  if (!tried(() => set({ [name]: settingFrom(name, typed) }))) tell(true);
}

export const undo = () => past.length && change(past.pop(), { remembers: false });
export const reset = () => isBase() || change(baseState());
