// The player: one entry at a time, each as its row and column meet, as products, as a sum and rounded; the map last.

import { button, make, say, select } from "../elements.js";
import { afterChange, plan, state, work } from "./state.js";
import { cellOf, show, showOnly } from "./view.js";

const SPEEDS = [["0.25", "¼ ×"], ["0.5", "½ ×"], ["1", "1 ×"], ["2", "2 ×"], ["4", "4 ×"], ["16", "16 ×"]], BEAT = 1100;
let frames = [], at = -1, timer = 0, order = new Map();
const playing = button("Pause", () => (timer ? pause() : play()));
const speed = select({ "aria-label": "Speed" }, SPEEDS);
const jump = make("select", { "aria-label": "Go to a step", onchange: () => go(frames.findIndex((frame) => frame.name === jump.value)) });
const place = make("output", {});
export const bar = make("section", { class: "player", hidden: true, "aria-label": "Player" },
  button("|◀", () => go(0)), button("◀", () => by(-1)), playing, button("▶", () => by(1)), button("▶▶", () => nextEntry(1)), speed, jump, place,
  button("Full screen", () => document.documentElement.requestFullscreen?.()), button("Close", stop));
bar.children[0].setAttribute("aria-label", "First");
bar.children[1].setAttribute("aria-label", "Back");
bar.children[3].setAttribute("aria-label", "Forward");
bar.children[4].setAttribute("aria-label", "Next entry");

const isOn = () => at >= 0;

/** All frames: for each entry, as many as its line has forms. */
function prepare() {
  frames = [];
  order = new Map();
  for (const { name } of plan.steps) {
    if (state.given[name]) continue;
    const count = plan.shapes[name].reduce((all, side) => all * side, 1);
    for (let k = 0; k < count; k += 1) {
      order.set(`${name}:${k}`, frames.length);
      const forms = work.line(name, k).forms.length;
      for (let form = 1; form <= forms + 1; form += 1) frames.push({ name, k, forms: form, isLast: form === forms + 1 });
    }
  }
  jump.replaceChildren(...plan.steps.filter(({ name }) => !state.given[name]).map((step) => make("option", { value: step.name }, `${step.name}: ${step.title}`)));
}

/** Whether an entry is already computed in the current frame. */
function isComputed(name, k) {
  const { name: own, k: place_, isLast } = frames[at], from = order.get(`${name}:${k}`);
  return from === undefined || from < order.get(`${own}:${place_}`) || (name === own && k === place_ && isLast);
}

function go(to) {
  if (!isOn() && to < 0) return;
  at = Math.min(Math.max(to, 0), frames.length - 1);
  const { name, k, forms, isLast } = frames[at];
  showOnly(isComputed);
  show({ name, k }, { forms: isLast ? null : forms });
  const cell = cellOf(name, k);
  cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  jump.value = name;
  place.textContent = `${at + 1} of ${frames.length}`;
  if (at === frames.length - 1) pause();
}

const by = (change) => (pause(), go(at + change));

/** Go to the end of the next entry, or of the one before. */
function nextEntry(change) {
  pause();
  let to = at;
  do to += change; while (frames[to] && !frames[to].isLast);
  go(to);
}

function tick() {
  if (at >= frames.length - 1) return void pause();
  go(at + 1);
  timer = setTimeout(tick, BEAT / Number(speed.value));
  return undefined;
}

export function play() {
  if (!isOn()) {
    prepare();
    bar.hidden = false;
    document.body.classList.add("plays");
    at = 0;
    go(0);
  } else if (at === frames.length - 1) go(0);
  playing.textContent = "Pause";
  clearTimeout(timer);
  timer = setTimeout(tick, BEAT / Number(speed.value));
  playing.focus({ preventScroll: true });
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  playing.textContent = "Play";
}

export function stop() {
  if (!isOn()) return;
  pause();
  at = -1;
  bar.hidden = true;
  document.body.classList.remove("plays");
  showOnly(null);
  say("All results are shown.");
}

const KEYS = {
  ArrowRight: () => by(1), ArrowLeft: () => by(-1), PageDown: () => nextEntry(1), PageUp: () => nextEntry(-1),
  Home: () => (pause(), go(0)), End: () => (pause(), go(frames.length - 1)), " ": () => playing.click(), Escape: stop, f: () => document.documentElement.requestFullscreen?.(),
};

/** Arrow keys step, space pauses, Page Up and Page Down (presenters) go from entry to entry. */
export function startPlayer() {
  speed.value = "1";
  document.addEventListener("keydown", (event) => {
    if (!isOn() || event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, input, textarea")) return;
    if (event.key === " " && event.target.matches?.("button")) return;
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  }, true);
  afterChange(stop);
}
