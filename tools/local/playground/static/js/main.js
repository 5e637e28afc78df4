// Puts the page together.

import { $, h, icon } from "./dom.js";
import { startComposer } from "./composer.js";
import { startFacts } from "./facts.js";
import { startHead } from "./head.js";
import { startMessages } from "./messages.js";
import { DEFAULT_PERSON, startPeople } from "./people.js";
import { startPhone } from "./phone.js";
import { startPlot } from "./plot.js";
import { startPrompts } from "./prompts.js";
import { startQueues } from "./queues.js";
import { startSummary } from "./summary.js";
import { startTabs } from "./tabs.js";
import { startTurns } from "./turns.js";
import { follow, show, stack, touch } from "./live.js";
import { say } from "./toasts.js";
import { currentLanguage, keep, languages, onLanguage, read, t, translate, useLanguage } from "./words.js";

const THEMES = ["auto", "light", "dark"];

function startTheme() {
  const button = $("#theme");
  let theme = THEMES.includes(read("theme")) ? read("theme") : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.replaceChildren(icon(theme));
    button.setAttribute("aria-label", t(`theme_${theme}`));
    button.title = t(`theme_${theme}`);
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    keep("theme", theme);
    apply();
  });
  onLanguage(apply);
  apply();
}

function startLanguage() {
  const select = $("#language");
  for (const [code, name] of languages()) select.append(h("option", { value: code, lang: code, title: name, "aria-label": name }, code.toUpperCase()));
  select.value = currentLanguage();
  select.addEventListener("change", () => useLanguage(select.value));
  onLanguage(() => touch("language"));
}

function startTrouble() {
  let away = false;
  show(["trouble", "connected", "disconnected"], ({ now }) => {
    const gone = now.has("disconnected") || stack.has("trouble");
    if (gone && !away) say(t("gone"), "bad");
    if (away && !gone) say(t("back"));
    away = gone;
  });
}

translate();
startTheme();
startLanguage();
startTrouble();
startTabs();
startPeople();
startPhone();
startComposer();
startHead();
startFacts();
startSummary();
startPlot();
startMessages();
startPrompts();
startTurns();
startQueues();
follow(read("person") || DEFAULT_PERSON);
