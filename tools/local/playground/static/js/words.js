// What the page says, in the reader's language.

import { en } from "./words/en.js";
import { es } from "./words/es.js";
import { it } from "./words/it.js";

const ALL = { en, es, it };
const NAMES = { en: "English", es: "Español", it: "Italiano" };
const listeners = new Set();

let language = pick();

function pick() {
  const stored = read("language");
  if (stored in ALL) return stored;
  for (const wanted of navigator.languages ?? []) if (wanted.slice(0, 2) in ALL) return wanted.slice(0, 2);
  return "en";
}

export function read(name) {
  try {
    return localStorage.getItem(`playground.${name}`) ?? "";
  } catch {
    return "";
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`playground.${name}`, value);
  } catch {
    // A browser that keeps nothing still shows the page.
  }
}

export const languages = () => Object.entries(NAMES);
export const currentLanguage = () => language;

export function useLanguage(chosen) {
  language = chosen;
  keep("language", chosen);
  translate();
  for (const listener of listeners) listener();
}

export const onLanguage = (listener) => listeners.add(listener);

export function t(name, values = {}) {
  const text = ALL[language][name] ?? en[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}

// Fills everything that stands in the page from the beginning.
export function translate() {
  document.documentElement.lang = language;
  document.title = t("title");
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of document.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.dataset.tLabel));
    if (element.hasAttribute("title")) element.title = t(element.dataset.tLabel);
  }
  for (const element of document.querySelectorAll("[data-t-placeholder]")) {
    element.placeholder = t(element.dataset.tPlaceholder);
  }
}
