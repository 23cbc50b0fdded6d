// The address after `#` contains the changes, so that a link keeps them.

import { data, edited, entryFrom, settingFrom, settingsOfBase, state } from "./edited.js";
import { own } from "./elements.js";
import { SETTINGS, inAddress } from "./settings.js";

let isWaiting = false;

/** Write the address, after the page has shown the state. */
export function writeAddress() {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    const parts = Object.entries(state.edits).flatMap(([name, edits]) =>
      Object.entries(edits).map(([flat, typed]) => `${encodeURIComponent(name)}[${flat}]=${encodeURIComponent(typed)}`));
    parts.push(...inAddress(state.settings, settingsOfBase()));
    const { pathname, search } = location;
    window.history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : pathname + search);
  }, 0);
}

/** Read the state of an address, and count its invalid parts. */
export function readAddress() {
  const next = { edits: {}, settings: { ...settingsOfBase() } };
  let wrong = 0;
  for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
    try {
      const [left, right] = part.split("=").map(decodeURIComponent);
      const [, name, flat] = /^([^[\]]+)\[([0-9]{1,7})\]$/.exec(left) ?? [];
      if (name && own(data.given, name)?.from.includes(Number(flat)))
        next.edits = edited(next.edits, name, flat, entryFrom(name, right));
      else if (SETTINGS.includes(left)) next.settings[left] = settingFrom(left, right);
      else wrong += 1;
    } catch {
      wrong += 1;
    }
  }
  return { next, wrong };
}
