// What the page hands out: the problem as JSON, this page, the map, and the work as LaTeX and Markdown.

import { WRITERS, written } from "../expressions.js";
import { make, save } from "../elements.js";
import { shownText } from "../equations/solve.js";
import { addressNow, fileNow, plan, solution, state, templateOf, work } from "./state.js";
import { formulaOf, labelsOf, mapOf, textOf } from "./view.js";

const source = document.documentElement.outerHTML;
const LOOK = "text{font:12px sans-serif;fill:#1a1a1a}line{stroke:#0b3c6f}line.second{stroke:#b34700}circle{fill:#1a1a1a}.weight{font-size:10px}.side{fill:#555}";

const json = () => `${JSON.stringify(fileNow(), null, 1)}\n`;

/** This page, opened with the current problem. */
function page() {
  const start = JSON.stringify(addressNow()).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return `<!DOCTYPE html>\n${source.replace(/(<script type="application\/json" id="start">)[^<]*/, (_, head) => head + start)}\n`;
}

/** The map of each attention and head, below one another. */
function maps() {
  const all = plan.steps.filter((step) => step.role === "weights").flatMap(({ name }) => {
    const shape = plan.shapes[name];
    return Array.from({ length: shape.length > 2 ? shape[0] : 1 }, (_, h) => mapOf(name, h));
  });
  const heights = all.map((each) => Number(each.getAttribute("viewBox").split(" ")[3])), total = heights.reduce((a, b) => a + b, 0);
  let y = 0;
  const inner = all.map((each, k) => { const at = y; y += heights[k]; return `<svg x="0" y="${at}" width="320" height="${heights[k]}" viewBox="0 0 320 ${heights[k]}">${each.innerHTML}<\/svg>`; });
  return { text: `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="${total * 2}" viewBox="0 0 320 ${total}"><style>${LOOK}<\/style><rect width="320" height="${total}" fill="#fff"/>${inner.join("")}<\/svg>\n`, height: total * 2 };
}

function png() {
  const { text, height } = maps(), image = new Image(), canvas = make("canvas", { width: 1280, height: height * 2 });
  image.addEventListener("load", () => {
    canvas.getContext("2d").drawImage(image, 0, 0, 1280, height * 2);
    canvas.toBlob((blob) => save(blob, "map.png"));
  });
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
}

// ---------------------------------------------------------------- the work

const escaped = (text) => text.replace(/[\\{}$&#^_%~]/g, (sign) => ({ "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}" })[sign] ?? `\\${sign}`);
const nameInTex = (name) => { const [first, ...rest] = name.split("_"); return (first.length > 1 ? `\\mathit{${escaped(first)}}` : first) + (rest.length ? `_{${rest.map((each) => (each.length > 1 ? `\\mathrm{${escaped(each)}}` : each)).join(",")}}` : ""); };
const inBrackets = (it) => (["sum", "negative", "product", "quotient", "ratio"].includes(it.is) ? `\\left(${tex(it)}\\right)` : tex(it));
const TEX = {
  number: (it) => (it.tens ? `${it.text} \\times 10^{${it.tens}}` : it.text.replace("∞", "\\infty ")),
  ratio: ({ exact: { n, d } }) => `${n < 0n ? "-" : ""}\\tfrac{${n < 0n ? -n : n}}{${d}}`,
  symbol: (it) => (it.name === "π" ? "\\pi" : nameInTex(it.name)),
  indexed: (it) => `${nameInTex(it.name)}[${it.place.join(",")}]`,
  sum: (it) => it.terms.reduce((text, term) => {
    const isMinus = term.is === "negative", inner = isMinus ? term.term : term, said = tex(inner), sign = isMinus ? (text ? " - " : "-") : text && " + ";
    return text + sign + (sign && said[0] === "-" ? `(${said})` : said);
  }, ""),
  negative: ({ term }) => `-${inBrackets(term)}`,
  product: (it) => it.factors.map((factor, k) => { const said = ["sum", "negative"].includes(factor.is) ? inBrackets(factor) : tex(factor); return k && said[0] === "-" ? `(${said})` : said; }).join(" \\cdot "),
  quotient: (it) => `\\frac{${tex(it.top)}}{${tex(it.bottom)}}`,
  power: (it) => { const base = inBrackets(it.base); return `${base[0] === "-" ? `(${base})` : base}^{${tex(it.exponent)}}`; },
  root: (it) => `\\sqrt{${tex(it.radicand)}}`,
  call: (it) => `\\operatorname{${escaped(it.name)}}\\left(${tex(it.argument)}\\right)`,
};
/** An expression in LaTeX. */
export const tex = (it) => (TEX[it.is] ? TEX[it.is](it) : escaped(WRITERS[it.is](it)));

const everyRow = (name) => {
  const [r, c] = plan.shapes[name].slice(-2), heads = plan.shapes[name].length > 2 ? plan.shapes[name][0] : 1;
  return Array.from({ length: heads }, (_, h) => Array.from({ length: r }, (_row, i) => Array.from({ length: c }, (_cell, j) => (h * r + i) * c + j)));
};
const made = () => plan.steps.filter(({ name }) => !state.given[name]);

function latex() {
  const matrix = (name) => everyRow(name).map((rows) => `\\begin{pmatrix} ${rows.map((row) => row.map((k) => textOf(name, k).replace("−", "-").replace("∞", "\\infty")).join(" & ")).join(" \\\\ ")} \\end{pmatrix}`).join(",\\;");
  const given = Object.keys(state.given).map((name) => `\\[ ${nameInTex(name)} = ${matrix(name)} \\]`);
  const steps = made().map((step) => {
    const lines = everyRow(step.name).flat(2).map((k) => {
      const { entry, forms, result, isExact, remark } = work.line(step.name, k);
      return `${tex(entry)} &${forms.map((form) => `= ${tex(form)}`).join(" ")} ${isExact ? "=" : "\\approx"} ${tex(result)}${remark ? ` \\quad\\text{(${escaped(remark)})}` : ""}`;
    });
    return `\\subsection*{${escaped(step.name)}: ${escaped(step.title)}}\n\\[ ${nameInTex(step.name)} = ${matrix(step.name)} \\]\n\\begin{align*}\n${lines.join(" \\\\\n")}\n\\end{align*}`;
  });
  return `\\documentclass{article}\n\\usepackage{amsmath}\n\\allowdisplaybreaks\n\\setcounter{MaxMatrixCols}{99}\n\\begin{document}\n${[...given, ...steps].join("\n\n")}\n\\end{document}\n`;
}

const inMarkdown = (text) => text.replace(/[\\`*_{}[\]<>|#]/g, "\\$&").replace(/[\r\n]+/g, " ");

function markdown() {
  const table = (name) => everyRow(name).map((rows, h, all) => {
    const { rows: down, columns } = labelsOf(name);
    const line = (cells) => `| ${cells.join(" | ")} |`;
    return `${all.length > 1 ? `Head ${h + 1}\n\n` : ""}${line(["", ...columns.names.map(inMarkdown)])}\n${line(["", ...columns.names].map(() => "---"))}\n${rows.map((row, i) => line([inMarkdown(down.names[i]), ...row.map((k) => textOf(name, k))])).join("\n")}`;
  }).join("\n\n");
  const given = Object.keys(state.given).map((name) => `## ${inMarkdown(name)}, given\n\n${table(name)}`);
  const steps = made().map((step) => `## ${inMarkdown(step.name)}: ${step.title}\n\n${inMarkdown(formulaOf(step))}\n\n${table(step.name)}\n\n${everyRow(step.name).flat(2).map((k) => `    ${work.text(step.name, k)}`).join("\n")}`);
  return `# Attention, step by step\n\n${[...given, ...steps].join("\n\n")}\n`;
}

/** All results as CSV-like text: name, place and number. */
const csv = () => `step,entry,value\n${made().flatMap(({ name }) => everyRow(name).flat(2).map((k) => `${name},"${written(work.entry(name, k))}",${shownText(solution.steps[name].worked.digits[k], state.settings.decimals)}`)).join("\n")}\n`;

/** The command that gives the same in a terminal. */
export const command = () => `attncalc ${templateOf(state).command} problem.json --work`;

export const EXPORTS = [
  ["Problem (JSON)", () => save(json(), "problem.json", "application/json")],
  ["This page (HTML)", () => save(page(), "attention.html", "text/html")],
  ["Map (SVG)", () => save(maps().text, "map.svg", "image/svg+xml")],
  ["Map (PNG)", png],
  ["Work (LaTeX)", () => save(latex(), "work.tex", "text/x-tex")],
  ["Work (Markdown)", () => save(markdown(), "work.md", "text/markdown")],
  ["Results (CSV)", () => save(csv(), "results.csv", "text/csv")],
];
