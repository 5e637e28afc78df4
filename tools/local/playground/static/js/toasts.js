// Short notices, and dialogs that ask.

import { $, h } from "./dom.js";
import { t } from "./words.js";

export function say(text, kind = "good") {
  const toast = h("p", { class: `toast ${kind}` }, text);
  $("#toasts").append(toast);
  setTimeout(() => toast.remove(), 6000);
}

export async function trying(work, done = "") {
  try {
    const result = await work();
    if (done) say(done);
    return result;
  } catch (error) {
    say(error.message, "bad");
    return undefined;
  }
}

// Opens the dialog with a title, content and a button; resolves to whether the button was chosen.
export function ask(title, content, action, { danger = false } = {}) {
  const dialog = $("#dialog");
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog" },
      h("h2", { id: "dialog-title" }, title), ...content,
      h("div", { class: "buttons" },
        h("button", { type: "button", onclick: () => dialog.close("") }, t("cancel")),
        h("button", { value: "yes", class: danger ? "danger solid" : "solid" }, action)));
    dialog.replaceChildren(form);
    dialog.returnValue = "";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}
