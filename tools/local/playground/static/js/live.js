// Follows the stack and one person. Values arrive as changes; views hear of them once per frame.

const views = [];
let source = null;
let waiting = new Set();
let frame = 0;

export const stack = new Map();
export const room = {
  bubbles: new Map(), messages: new Map(), turns: new Map(), calls: new Map(), memory: new Map(), person: new Map(),
};
export let phone = "";

// `channels`: of which changes a view wants to hear; it is given the changed keys by channel.
export const show = (channels, render) => views.push({ channels: new Set(channels), render });

export function follow(chosen) {
  phone = chosen;
  source?.close();
  for (const values of Object.values(room)) values.clear();
  touch("reset");
  source = new EventSource(`/api/events/${encodeURIComponent(chosen)}`);
  source.addEventListener("stack", (event) => {
    const { changes } = JSON.parse(event.data);
    apply(stack, changes.stack ?? {});
    for (const key of Object.keys(changes.stack ?? {})) touch(key);
  });
  source.addEventListener("room", (event) => {
    const { reset, changes } = JSON.parse(event.data);
    if (reset) {
      for (const values of Object.values(room)) values.clear();
      touch("reset");
    }
    for (const [channel, values] of Object.entries(changes)) {
      apply(room[channel], values);
      for (const key of Object.keys(values)) changed(channel).add(key);
      touch(channel);
    }
  });
  source.addEventListener("open", () => touch("connected"));
  source.addEventListener("error", () => touch("disconnected"));
  source.addEventListener("missing", () => {
    source.close();
    touch("missing");
  });
}

export const connected = () => source?.readyState === EventSource.OPEN;

let keys = new Map();

function changed(channel) {
  if (!keys.has(channel)) keys.set(channel, new Set());
  return keys.get(channel);
}

function apply(map, values) {
  for (const [key, value] of Object.entries(values)) {
    if (value === null) map.delete(key);
    else map.set(key, value);
  }
}

export function touch(channel) {
  waiting.add(channel);
  frame ||= requestAnimationFrame(render);
}

function render() {
  frame = 0;
  const [now, what] = [waiting, keys];
  waiting = new Set();
  keys = new Map();
  for (const view of views) {
    const reset = now.has("reset");
    if (reset || [...now].some((channel) => view.channels.has(channel))) view.render({ reset, keys: what, now });
  }
}

export async function order(name, given = {}) {
  const answer = await fetch(`/api/do/${name}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ phone, ...given }),
  });
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(value.error ?? String(answer.status));
  return value;
}
