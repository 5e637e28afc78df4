// Tabs as in the ARIA pattern: arrows move, the phone is a tab of its own on narrow screens.

import { $, h } from "./dom.js";
import { onLanguage, t } from "./words.js";

const NAMES = ["phone", "memory", "messages", "prompt", "turns", "queues"];
let current = "memory";
const listeners = new Set();

export const onTab = (listener) => listeners.add(listener);
export const currentTab = () => current;

export function openTab(name, { focus = false } = {}) {
  current = name;
  $("#app").dataset.view = name;
  for (const each of NAMES) {
    const tab = $(`#tab-${each}`);
    const chosen = each === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (each !== "phone") $(`#panel-${each}`).hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  for (const listener of listeners) listener(name);
}

export const narrow = matchMedia("(max-width: 899px)");

export function startTabs() {
  const list = $("#tabs");
  for (const name of NAMES) {
    list.append(h("button", {
      type: "button", role: "tab", id: `tab-${name}`,
      "aria-controls": name === "phone" ? "phone" : `panel-${name}`, onclick: () => openTab(name),
    }));
  }
  list.addEventListener("keydown", (event) => {
    const usable = NAMES.filter((name) => name !== "phone" || narrow.matches);
    const place = usable.indexOf(current);
    const steps = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: usable.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    openTab(usable[(steps[event.key] + usable.length) % usable.length], { focus: true });
  });
  const label = () => NAMES.forEach((name) => { $(`#tab-${name}`).textContent = t(`tab_${name}`); });
  onLanguage(label);
  label();
  const fit = () => openTab(narrow.matches ? "phone" : current === "phone" ? "memory" : current);
  narrow.addEventListener("change", fit);
  fit();
}
