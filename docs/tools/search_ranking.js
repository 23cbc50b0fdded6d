// Rank titles and guides above generated pages, and search for the words that the site uses.
var Scorer = {
  score: ([docname, , , , score]) =>
    score * (docname.startsWith("reference/") ? 0.2 : docname.startsWith("examples/") ? 0.8 : 1),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 14,
  term: 5,
  partialTerm: 2,
};
const SYNONYMS = {
  backprop: "gradients",
  backpropagation: "gradients",
  grade: "marking",
  grades: "marking",
  grading: "marking",
  scheme: "rubric",
  normalization: "normalisation",
  chart: "plot",
  visualize: "plot",
};
var splitQuery = (query) =>
  query
    .split(/[^\p{Letter}\p{Number}_]+/gu)
    .filter((term) => term)
    .map((term) => SYNONYMS[term.toLowerCase()] ?? term);
