// A study: the curve of what is watched, with a slider over the values or steps; every number is a cell of the table.

import { all, button, byId, drawn, labelled, main, make, rest, select } from "./elements.js";
import { Words } from "./said.js";

const recorded = JSON.parse(byId("problem").textContent), words = new Words(recorded), said = (text) => words.say(text);
const names = recorded.names, digits = recorded.digits, values = recorded.values, points = recorded.points, along = recorded.along;
const last = values.length - 1, PLAYED = 8000, SHORTEST = 40, LONGEST = 400; // milliseconds
const TALL = 230, LEFT = 84, RIGHT = 16, TOP = 14, BOTTOM = 34;
let at = 0, shown = 0, timer = null;

const curve = make("div", { class: "curve" });
const told = make("p", { class: "told" });
const back = button(said("Step back"), () => go(at - 1)), forward = button(said("Step forward"), () => go(at + 1));
const playing = button(said("Play"), () => (timer === null ? play() : pause()));
const slider = make("input", { type: "range", min: 0, max: last, value: 0, oninput: () => go(Number(slider.value)) });
const choice = select({ onchange: () => choose(Number(choice.value)) }, names.map((name, k) => [k, name]));

/** Go to a step, and stop playing. */
function go(step) {
  pause();
  show(step);
}

function choose(column) {
  shown = column;
  show(at);
}

function pause() {
  window.clearInterval(timer);
  timer = null;
  playing.textContent = said("Play");
}

/** Show one step after another; start again at the end, and skip steps if there are many. */
function play() {
  if (at === last) show(0);
  const delay = Math.min(Math.max(PLAYED / last, SHORTEST), LONGEST), leap = Math.ceil((delay * last) / PLAYED);
  playing.textContent = said("Pause");
  timer = window.setInterval(() => {
    show(at + leap);
    if (at === last) pause();
  }, delay);
}

function show(step) {
  at = Math.min(Math.max(step, 0), last);
  slider.value = at;
  told.textContent = `${along} ${points[at]} (${at + 1} / ${last + 1}): ${names.map((name, k) => `${name} ${digits[at][k]}`).join(", ")}`;
  slider.setAttribute("aria-valuetext", `${along} ${points[at]}: ${names[shown]} ${digits[at][shown]}`);
  rest(back, at === 0);
  rest(forward, at === last);
  for (const row of all(".numbers tbody tr")) row.classList.toggle("now", row.cells[0].textContent === points[at]);
  draw();
}

/** Draw the curve faintly, and the part that was played over it. */
function draw() {
  const wide = Math.max(curve.clientWidth, 240), known = [...values.keys()].filter((i) => values[i][shown] !== null);
  const of = (i) => values[i][shown];
  const low = known.reduce((a, b) => (of(b) < of(a) ? b : a), known[0]), high = known.reduce((a, b) => (of(b) > of(a) ? b : a), known[0]);
  const x = (i) => LEFT + ((wide - LEFT - RIGHT) * i) / last;
  const y = (i) => (of(low) === of(high) ? TALL / 2 : TOP + ((TALL - TOP - BOTTOM) * (of(high) - of(i))) / (of(high) - of(low)));
  const line = (of_class, steps) => drawn("polyline", { class: of_class, points: steps.map((i) => `${x(i).toFixed(1)},${y(i).toFixed(1)}`).join(" ") });
  const text = (i, j, anchor, label) => drawn("text", { x: i, y: j, "text-anchor": anchor }, label);
  const floor = TALL - BOTTOM + 6;
  const parts = [drawn("line", { x1: LEFT, x2: wide - RIGHT, y1: floor, y2: floor }), drawn("line", { x1: LEFT, x2: LEFT, y1: TOP - 6, y2: floor }),
    text(x(0), TALL - 10, "start", points[0]), text(x(last), TALL - 10, "end", points[last]), text((x(0) + x(last)) / 2, TALL - 10, "middle", along)];
  if (known.length) {
    for (const i of digits[low][shown] === digits[high][shown] ? [low] : [low, high]) parts.push(text(LEFT - 8, y(i) + 4, "end", digits[i][shown]));
    parts.push(line("ahead", known), line("played", known.filter((i) => i <= at)));
    if (values[at][shown] !== null) parts.push(drawn("circle", { class: "here", cx: x(at), cy: y(at), r: 5 }));
  }
  const ends = known.length ? `, ${digits[known[0]][shown]} … ${digits[known[known.length - 1]][shown]}` : "";
  curve.replaceChildren(drawn("svg", { role: "img", "aria-label": `${said("Curve of")} ${names[shown]} (${along} ${points[0]} … ${points[last]})${ends}`,
    viewBox: `0 0 ${wide} ${TALL}`, width: wide, height: TALL }, ...parts));
}

export function start() {
  const controls = make("div", { class: "buttons" }, back, playing, forward, labelled(along, slider), labelled(said("Curve of"), choice));
  const section = make("section", { "aria-label": said("Curve") }, curve, make("div", { class: "live", role: "region", "aria-label": said("Controls") }, controls), told);
  all("section.sheet", main)[0].before(section);
  show(0);
  window.addEventListener("resize", draw);
}
