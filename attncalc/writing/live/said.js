// Sentences in the language of the page: a message is the English one, as in writing/languages/catalogue.

import { byId, own } from "./elements.js";
import { withComma } from "./decimals.js";

export const data = JSON.parse(byId("problem").textContent); // its words that vary are in the order of trial
const PLACES = /\{(\w+)\}/;
const patterns = Object.entries(data.words).filter(([message]) => PLACES.test(message)).map(([message, translated]) => [patternOf(message), translated]);

/** Text with the decimal sign of the language. */
export const inNumbers = (text) => (data.comma ? withComma(text) : text);

function patternOf(message) {
  const pieces = message.split(PLACES).map((piece, k) => (k % 2 ? `(?<${piece}>.+?)` : piece.replace(/[.*+?^$()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${pieces.join("")}$`);
}

/** A sentence in the language; one without a translation stays as it is. */
export function said(text) {
  if (own(data.words, text)) return data.words[text];
  for (const [found, translated] of patterns) {
    const parts = found.exec(text)?.groups;
    if (parts) return translated.replace(/\{(\w+)\}/g, (_, name) => (name.startsWith("t_") ? said(parts[name]) : /^n\d?$/.test(name) ? inNumbers(parts[name]) : parts[name]));
  }
  return text;
}
