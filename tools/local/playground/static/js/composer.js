// Writing, attaching, and the things to try.

import { $, h, icon } from "./dom.js";
import { order, show } from "./live.js";
import { currentPerson, nameOf } from "./people.js";
import { ask, say, trying } from "./toasts.js";
import { onLanguage, t } from "./words.js";

const words = () => $("#words");
const taken = (otherwise) => {
  const text = words().value.trim();
  words().value = "";
  grow();
  return text || otherwise;
};

const MEDIA = [["voice", "mic"], ["image", "image"], ["document", "document"], ["location", "place"]];
const TRIES = [
  ["burst", "burst", () => order("write", { texts: [t("sample_burst_1"), t("sample_burst_2"), t("sample_burst_3")] })],
  ["repeat", "repeat", () => order("repeat", { text: taken(t("sample_text")) })],
  ["lose", "lost", () => order("lose", { text: taken(t("sample_text")) })],
  ["lose_answer", "lost", () => order("lose_answer", { text: taken(t("sample_text")) })],
  ["travel_3", "travel", () => order("travel", { days: 3 }), "travel_more"],
  ["travel_21", "travel", () => order("travel", { days: 21 }), "travel_more"],
  ["number", "number", () => order("replace_number")],
  ["stop", "stop", () => order("write", { texts: ["STOP"] })],
  ["crash", "crash", () => order("crash", { text: taken(t("sample_crash")) })],
  ["fail", "broken", () => order("fail", { text: taken(t("sample_text")) })],
];

export function startComposer() {
  $("#composer").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  words().addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    }
  });
  words().addEventListener("input", grow);
  const draw = () => {
    $("#attach").replaceChildren(...MEDIA.map(([kind, shape]) => entry(kind, shape, `${kind}_more`, () => attach(kind))));
    $("#try").replaceChildren(...TRIES.map(([name, shape, work, more]) => entry(name, shape, more ?? `${name}_more`, () => trying(work))));
    starters();
  };
  for (const menu of [$("#attach"), $("#try")]) menu.addEventListener("keydown", (event) => move(event, menu));
  onLanguage(draw);
  show(["people", "reset"], starters);
  draw();
}

function entry(name, shape, more, work) {
  return h("button", {
    type: "button", class: "entry", data: { name },
    onclick: (event) => {
      event.currentTarget.closest("[popover]").hidePopover();
      work();
    },
  }, icon(shape), h("span", {}, h("strong", {}, t(name)), h("small", {}, t(more))));
}

function move(event, menu) {
  const entries = [...menu.querySelectorAll("button")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  entries[(entries.indexOf(document.activeElement) + step + entries.length) % entries.length].focus();
}

function starters() {
  const name = nameOf(currentPerson() ?? { name: "Maya", phone: "" });
  $("#starters").replaceChildren(...[1, 2, 3].map((number) => {
    const text = t(`starter_${number}`, { name });
    return h("li", {}, h("button", { type: "button", onclick: () => trying(() => order("write", { texts: [text] })) }, text));
  }));
}

function grow() {
  words().style.height = "auto";
  words().style.height = `${Math.min(140, words().scrollHeight)}px`;
}

async function send() {
  const text = taken("");
  if (!text) return;
  const sent = await trying(() => order("write", { texts: [text] }));
  if (!sent && !words().value) words().value = text;
}

async function attach(kind) {
  if (kind === "location") {
    await trying(() => order("medium", { kind }));
    return;
  }
  const said = h("input", { id: "medium-words", value: taken(kind === "voice" ? t("sample_text") : ""), maxlength: "1000" });
  const chosen = h("input", { type: "file", accept: { voice: "audio/*", image: "image/*", document: "" }[kind] });
  const content = [
    h("label", {}, t(kind === "voice" ? "medium_words" : "medium_caption"), said),
    h("label", {}, t("medium_file"), chosen),
  ];
  if (!(await ask(t(kind), content, t("send")))) return;
  const file = chosen.files[0] ? await encoded(chosen.files[0]) : null;
  await trying(() => order("medium", { kind, words: said.value, file }));
}

function encoded(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => {
      say(String(reader.error), "bad");
      reject(reader.error);
    };
    reader.onload = () => resolve({ name: file.name, type: file.type, data: reader.result.split(",", 2)[1] ?? "" });
    reader.readAsDataURL(file);
  });
}
