// Marks answers in the runtime of Numbas, which lies in the current folder with its jsdom: the
// folder `tests` of https://github.com/numbas/Numbas after `npm install`. Standard input holds
// the exam and a list of answers, by the names of the parts; standard output, what comes of them.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const here = process.cwd();
const { JSDOM } = createRequire(path.join(here, 'any.js'))('jsdom');
for (const file of ['numbas-runtime', 'locales', 'marking_scripts', 'diagnostic_scripts']) {
  await import(pathToFileURL(path.join(here, `${file}.js`)));
}
const { window } = new JSDOM('');
Object.assign(global, { window, document: window.document });
Numbas.queueScript('base', [], () => {});

async function submitted(part, cells) {
  part.storeAnswer(cells);
  await new Promise((done) => {
    part.events.once('post-submit').then(done);
    part.submit();
  });
}

async function question(definition) {
  const exam = Numbas.createExamFromJSON(definition, null, false);
  exam.init();
  await exam.signals.on('ready');
  await exam.questionList[0].signals.on('ready');
  return exam.questionList[0];
}

Numbas.queueScript('tried', ['json', 'parts/matrixentry', 'parts/multipleresponse', 'question', 'exam'], async () => {
  Numbas.locale.set_preferred_locale('en-GB');
  Numbas.locale.init();
  const { text, answers } = JSON.parse(fs.readFileSync(0, 'utf-8'));
  const definition = JSON.parse(text.slice(text.indexOf('\n')));
  const told = { right: {}, scores: [] };
  for (const answer of [null, ...answers]) {
    const { parts: [part], attncalc } = await question(definition);
    if (answer === null) {
      for (const gap of part.gaps) told.right[gap.customName] = gap.settings.correctAnswer ?? gap.settings.matrix;
      told.statement = attncalc.statements[0];
      continue;
    }
    await submitted(part, part.gaps.map(({ type, customName, settings: { numRows, numColumns, choices } }) => {
      if (type === '1_n_2') return choices.map((_, k) => [k === answer[customName]]);
      const empty = Array.from({ length: numRows }, () => Array(numColumns).fill(''));
      return Object.assign(answer[customName] ?? empty, { rows: numRows, columns: numColumns });
    }));
    told.scores.push(Object.fromEntries(part.gaps.map((gap) => [gap.customName, gap.score])));
    told.said = part.gaps.flatMap((gap) => gap.markingFeedback.map(({ message }) => message));
    told.score = part.score;
  }
  console.log(JSON.stringify(told));
});
