// Rank pages by their title, guides above generated pages, and translate words to those of the site.
const WEIGHTS = [
  [/^(reference\/|style)/, 0.2],
  [/^(gallery|index|tour|key)/, 0.5],
  [/^(examples|notebooks)\//, 0.8],
];
const SYNONYMS = {
  backprop: "gradients",
  backpropagation: "gradients",
  grade: "marking",
  grades: "marking",
  grading: "marking",
  scheme: "rubric",
  normalisation: "normalization",
  gqa: "heads",
  mqa: "heads",
  marks: "marking",
  chart: "plot",
  visualize: "plot",
};
let searched = [];
var splitQuery = (query) =>
  (searched = query
    .split(/[^\p{Letter}\p{Number}_]+/gu)
    .filter((term) => term)
    .map((term) => SYNONYMS[term.toLowerCase()] ?? term));
var Scorer = {
  score: ([docname, title, , , score]) => {
    const [, weight] = WEIGHTS.find(([pages]) => pages.test(docname)) ?? [null, 1];
    const isNamed = (term) => title.toLowerCase().includes(term.toLowerCase().slice(0, 6));
    return score * weight * (searched.some(isNamed) ? 2 : 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
