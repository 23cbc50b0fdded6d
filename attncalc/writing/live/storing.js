// What this browser keeps.

/** What was stored; null if this browser stores nothing. */
export function recalled(place) {
  try { return JSON.parse(window.localStorage.getItem(place) ?? "{}"); } catch { return null; }
}

/** Store something; false if this browser stores nothing. */
export function stored(place, content) {
  try {
    window.localStorage.setItem(place, JSON.stringify(content));
    return true;
  } catch { return false; }
}
