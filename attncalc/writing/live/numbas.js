// Marks the matrices of a question of Numbas as a practice page marks its boxes; see exporting/numbas.

import { connectionIn, rowIn, valuesIn } from "./connections.js";
import { withPoint } from "./decimals.js";
import { explaining, mark, readAnswer } from "./equations/marks.js";
import { Words } from "./said.js";
import { shownText, sidesOf, solve } from "./equations/solve.js";

const SAID = {
  correct: "correct",
  rounding: "correct except for rounding",
  follows: "correct given your earlier values",
  "matches-key": "equal to the key, but not the result of your earlier values",
  precision: "correct with too few decimals",
  wrong: "wrong",
  undecided: "accepted, though only attncalc check can decide it",
  unreadable: "not a number",
  blank: "blank",
};

class Question {
  constructor(data) { // steps, versions, statements, gaps, credits and words, as exporting/numbas has them
    Object.assign(this, data, { solutions: [], language: new Words(data) });
  }

  /** The solution of a version: no digit of it is in the data. */
  solution(version) {
    return (this.solutions[version] ??= solve({ ...this.versions[version], steps: this.steps }));
  }

  /** The places of the entries of a gap in its step, row by row as they are shown. */
  places(version, gap) {
    const [name, head] = this.gaps[gap], [, rows, columns] = sidesOf(this.solution(version).carried[name]), first = Math.max(head - 1, 0) * rows;
    const sides = [rows, columns], byColumns = this.versions[version].settings.layout === "columns";
    const place = (i, j) => (byColumns ? (first + j) * columns + i : (first + i) * columns + j);
    const [down, across] = byColumns ? sides.reverse() : sides;
    return Array.from({ length: down }, (_row, i) => Array.from({ length: across }, (_column, j) => place(i, j)));
  }

  /** The shown numbers of a gap. */
  key(version, gap) {
    const { steps } = this.solution(version), { digits } = steps[this.gaps[gap][0]].worked, { decimals } = this.versions[version].settings;
    const rows = this.places(version, gap).map((row) => row.map((k) => Number(shownText(digits[k], decimals))));
    return Object.assign(rows, { rows: rows.length, columns: rows[0].length });
  }

  /** What an output attends to: by the key, and by the student's own weights where they are filled in. */
  connections(version, [head, output], answers) {
    const { carried, steps } = this.solution(version), [, rows, columns] = sidesOf(carried[this.weights]);
    const first = (Math.max(head - 1, 0) * rows + output) * columns, row = (all) => rowIn([0, rows, columns], all, Math.max(head - 1, 0), output);
    const full = row(valuesIn(carried[this.weights])), key = connectionIn(full, row(steps[this.weights].worked.digits).map(BigInt)), own = [...full];
    const at = this.gaps.findIndex(([name, of]) => name === this.weights && of === head);
    if (at >= 0) this.places(version, at).forEach((each, i) => each.forEach((k, j) => {
      const { v } = readAnswer(answers[at]?.[i]?.[j] ?? "");
      if (k >= first && k < first + columns && v !== undefined) own[k - first] = v;
    }));
    return [key, own.every((v, j) => v === full[j]) ? key : connectionIn(own, own)];
  }

  /** The marks of each option of a drop-down. */
  options(version, gap) {
    const [head, output, isDashed] = this.gaps[gap], [{ most, second, full }] = this.connections(version, [head, output], []);
    const right = isDashed ? second : most;
    return [...full.map((_, j) => right.includes(j)), !right.length].map((isRight) => (isRight ? this.line : 0));
  }

  /** The share of a line of the map, by the way in which more of the lines of its output are right. */
  markedLine(version, gap, answers) {
    const [head, output, isDashed] = this.gaps[gap], pair = isDashed ? [gap - 1, gap] : [gap, gap + 1];
    const chosen = pair.map((at) => (answers[at] ?? []).flat().indexOf(true));
    const ways = this.connections(version, [head, output], answers).map(({ most, second, full }) =>
      [most, second].map((right, k) => (chosen[k] === full.length ? !right.length : right.includes(chosen[k]))));
    const [byKey, byOwn] = ways.map((rights) => rights.filter(Boolean).length), isOwn = byOwn > byKey;
    const status = !ways[Number(isOwn)][Number(isDashed)] ? "wrong" : isOwn ? "follows" : "correct";
    return [this.credits[status] ?? 0, this.language.say(SAID[status])];
  }

  /** The likely cause of a step, as check words it: nothing if a step before it is not right or not there. */
  causes(version, name, marks, texts) {
    const say = (text) => this.language.say(text), solution = this.solution(version), wrong = marks[name].flatMap((status, k) => (status === "wrong" ? [k] : []));
    if (!this.before[name].every((each) => marks[each].every((status) => status === "correct" || status === "rounding"))) return [];
    const { decimals } = this.versions[version].settings, key = Array.from(solution.steps[name].worked.digits, (each) => Number(shownText(each, decimals)));
    if (wrong.length === 1) {
      const { v } = readAnswer(texts[wrong[0]]);
      return v && v === -key[wrong[0]] ? [say(`Possible cause: ${v > 0 ? "its sign is lost" : "it has a minus too many"}.`)] : [];
    }
    const results = this.mistakes[version][name].map(([code, clause, ...ends]) => {
      const [low, high = low] = ends.length > 1 ? ends : ends.map((places) => places.map((place) => Math.sign(place) * key[Math.abs(place) - 1]));
      return { code, clause, low, high };
    });
    const found = explaining(solution, texts, results), isFirst = ({ code }, k) => found.findIndex((each) => each.code === code) === k;
    const clauses = found.filter(isFirst).map(({ clause }) => this.clauses[clause]);
    const said = clauses.length > 1 ? say(`${clauses.slice(0, -1).join("; ")}, or ${clauses.at(-1)}`) : clauses[0];
    if (clauses.length < 2) return clauses.map(() => say(`Every entry of ${name} matches this mistake: ${said}.`));
    return [say(`${clauses.length} mistakes explain all of ${name} equally well: ${said}.`)];
  }

  /** The share that a gap earns, and why. */
  marked(version, gap, answers) {
    if (this.gaps[gap].length > 2) return this.markedLine(version, gap, answers);
    const typed = {}, [name] = this.gaps[gap];
    answers.forEach((rows, at) => {
      if (this.gaps[at].length > 2) return;
      const texts = (typed[this.gaps[at][0]] ??= []);
      this.places(version, at).forEach((row, i) => row.forEach((k, j) => { texts[k] = withPoint(rows?.[i]?.[j] ?? ""); }));
    });
    const marks = mark(this.solution(version), typed), statuses = marks[name], rows = this.places(version, gap), counts = {};
    for (const k of rows.flat()) counts[statuses[k]] = (counts[statuses[k]] ?? 0) + 1;
    const entries = rows.flat().length, earned = Object.entries(counts).reduce((all, [status, count]) => all + (this.credits[status] ?? 0) * count, 0);
    const say = (text) => this.language.say(text);
    if (counts.blank === entries) return [0, say(`${name}: not found.`)];
    const told = Object.keys(SAID).filter((status) => counts[status]).map((status) => `${counts[status]} × ${say(SAID[status])}`);
    const isWrong = (k) => !this.credits[statuses[k]], first = rows.flatMap((row, i) => row.flatMap((k, j) => (isWrong(k) ? [`[${i + 1},${j + 1}]`] : [])))[0];
    return [earned / entries, [`${name}, ${say(`of ${entries}`)}: ${told.join(", ")}.`, ...(first ? [say(`First: ${name}${first}.`), ...this.causes(version, name, marks, typed[name])] : [])].join(" ")];
  }
}

export function start() {
  Numbas.attncalc = (data) => new Question(data);
}
