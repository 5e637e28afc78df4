// The summary, and how it changed from one compaction to the next.

import { $, h, keyed } from "./dom.js";
import { exact } from "./format.js";
import { room, show } from "./live.js";
import { t } from "./words.js";

export function startSummary() {
  show(["memory", "reset", "language"], () => {
    const versions = room.memory.get("summaries") ?? [];
    const newest = versions.at(-1);
    $("#summary").replaceChildren(...(newest?.text
      ? [h("p", { class: "summary-text", dir: "auto" }, newest.text),
        h("p", { class: "meta" }, t("summary_meta", { version: newest.version, seq: newest.through_seq }))]
      : [h("p", { class: "empty" }, t("no_summary"))]));
    $("#summary-box").hidden = versions.length < 2;
    const steps = versions.map((version, place) => ({ ...version, earlier: versions[place - 1]?.text ?? "" }));
    keyed($("#summaries"), steps.toReversed(), (step) => step.version, (step) => h("li", {},
      h("p", { class: "meta" }, `${t("summary_version", { version: step.version, seq: step.through_seq })} · ${step.updated_at ? exact(step.updated_at) : ""}`),
      h("p", { class: "diff", dir: "auto" }, ...difference(step.earlier, step.text))));
  });
}

// Word by word: what went is struck, what came is marked.
export function difference(before, after) {
  const [one, other] = [before.match(/\S+\s*/g) ?? [], after.match(/\S+\s*/g) ?? []];
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      lengths[i][j] = one[i].trim() === other[j].trim() ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const pieces = [];
  const add = (kind, word) => {
    if (pieces.at(-1)?.kind === kind) pieces.at(-1).text += word;
    else pieces.push({ kind, text: word });
  };
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i].trim() === other[j].trim()) [i, j] = (add("", other[j]), [i + 1, j + 1]);
    else if (j < other.length && (i === one.length || lengths[i][j + 1] >= lengths[i + 1][j])) add("ins", other[j++]);
    else add("del", one[i++]);
  }
  return pieces.map(({ kind, text }) => (kind ? h(kind, {}, text) : text));
}
