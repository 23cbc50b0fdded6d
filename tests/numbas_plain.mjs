// Marks answers by the script of a question of Numbas without its runtime: a gap earns what
// `attn_mark` returns, as its marking algorithm says (set_credit). See numbas.mjs for the runtime.
import fs from 'node:fs';

const { text, answers } = JSON.parse(fs.readFileSync(0, 'utf-8'));
const exam = JSON.parse(text.slice(text.indexOf('\n')));
const [definition] = exam.question_groups[0].questions, question = {};
new Function('Numbas', 'question', definition.preamble.js)({}, question);
const { gaps } = definition.parts[0];
const answerTo = ({ type, choices }, given) => (type === '1_n_2' ? choices.map((_, k) => [k === given]) : given ?? []);
const marked = (answer) => gaps.map(({ customName, marks }, gap) => {
  const [credit, said] = question.attncalc.marked(0, gap, gaps.map((each) => answerTo(each, answer[each.customName])));
  return [customName, marks * credit, said];
});
const found = answers.map(marked), by = (k) => found.map((each) => Object.fromEntries(each.map((gap) => [gap[0], gap[k]])));
console.log(JSON.stringify({ scores: by(1), said: by(2) }));
