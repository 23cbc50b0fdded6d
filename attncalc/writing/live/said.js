// Sentences in a language: a message is the English one, as in languages/catalogue.

import { withComma } from "./decimals.js";

const PLACES = /\{(\w+)\}/;

function patternOf(message) {
  const pieces = message.split(PLACES).map((piece, k) => (k % 2 ? `(?<${piece}>${piece.startsWith("t_") ? "." : "(?:(?! \\(in ).)"}+?)` : piece.replace(/[.*+?^$()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${pieces.join("")}$`);
}

export class Words {
  constructor({ words, comma }) { // messages that vary are in the order of trial
    this.words = words;
    this.comma = comma;
    this.patterns = Object.entries(words).filter(([message]) => PLACES.test(message)).map(([message, translated]) => [patternOf(message), translated]);
  }

  /** Text with the decimal sign of the language. */
  number(text) {
    return this.comma ? withComma(text) : text;
  }

  /** A sentence in the language; one without a translation stays as it is. */
  say(text) {
    if (Object.hasOwn(this.words, text)) return this.words[text];
    for (const [found, translated] of this.patterns) {
      const parts = found.exec(text)?.groups;
      if (parts) return translated.replace(/\{(\w+)\}/g, (_, name) => (name.startsWith("t_") ? this.say(parts[name]) : /^n\d?$/.test(name) ? this.number(parts[name]) : parts[name]));
    }
    return text;
  }
}
