// Slides: one at a time, for the keys of keyboards and presenters; without the script all are below one another.

const all = [...document.querySelectorAll("#slides > section")];
let at = 0;

function go(to) {
  at = Math.min(Math.max(to, 0), all.length - 1);
  all.forEach((slide, place) => slide.classList.toggle("shown", place === at));
  if (location.hash !== `#${at + 1}`) window.history.replaceState(null, "", `#${at + 1}`);
}

const KEYS = {
  ArrowRight: () => go(at + 1), ArrowDown: () => go(at + 1), PageDown: () => go(at + 1), " ": () => go(at + 1), Enter: () => go(at + 1),
  ArrowLeft: () => go(at - 1), ArrowUp: () => go(at - 1), PageUp: () => go(at - 1), Backspace: () => go(at - 1),
  Home: () => go(0), End: () => go(all.length - 1), f: () => document.documentElement.requestFullscreen?.(),
};

const read = () => go((parseInt(location.hash.slice(1), 10) || 1) - 1);

export function start() {
  document.body.classList.add("one");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  document.addEventListener("click", (event) => go(at + (event.clientX < window.innerWidth / 4 ? -1 : 1)));
  window.addEventListener("hashchange", read);
  read();
}
