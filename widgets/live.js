// The levers of a Live cell in the browser. They appear once the page has reached the cell through GoNB's websocket; until then, and where
// that never happens, the hint stays. A move goes to the cell, and the answer is the output below: a new view with the number of the move.

const SEND_MS = 150; // between two moves
const BEAT_MS = 1000; // between two signs of life
const DEAF_MS = 7000; // without an answer of the kernel's
const CALL_MS = 20000; // until the page gives up calling, where it cannot see whether the cell runs

// GoNB opens its socket at ws://host/api/kernels/…, where there is none under a base URL or https, and it uses crypto.randomUUID, which
// browsers have on https and localhost only. Both are mended before it connects, in every case in which they would fail.
function mendGoNB() {
  const config = document.getElementById("jupyter-config-data");
  if (!config || window.WebSocket.fleetlab) return;
  const base = JSON.parse(config.textContent).baseUrl || "/";
  const wrong = "ws://" + location.host + "/api/kernels/", right = new URL(base, location.href);
  right.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const mend = (url) => String(url).startsWith(wrong) ? right.href.replace(/\/?$/, "/api/kernels/") + String(url).slice(wrong.length) : url;
  window.WebSocket = new Proxy(window.WebSocket, {
    construct: (target, [url, ...rest], made) => Reflect.construct(target, [mend(url), ...rest], made),
    get: (target, name) => name === "fleetlab" ? true : Reflect.get(target, name),
  });
  if (!crypto.randomUUID) {
    crypto.randomUUID = () => {
      const b = crypto.getRandomValues(new Uint8Array(16));
      b[6] = b[6] & 15 | 64;
      b[8] = b[8] & 63 | 128;
      return [...b].map((x, i) => ([4, 6, 8, 10].includes(i) ? "-" : "") + x.toString(16).padStart(2, "0")).join("");
    };
  }
}

// What JupyterLab and Notebook write beside a cell that runs or waits.
const star = (cell) => cell.querySelector(".jp-InputArea-prompt")?.textContent.includes("*");

// Whether other cells wait for this one. A notebook that keeps cells out of sight off the page does not tell, and that counts as yes.
function othersWait(root) {
  const own = root.closest(".jp-Cell"), book = root.closest(".jp-Notebook"), list = book?.querySelector(".jp-WindowedPanel-viewport");
  if (!own || list && getComputedStyle(list).position === "absolute") return true;
  return [...book.querySelectorAll(".jp-Cell")].some((cell) => cell !== own && star(cell));
}

function build(root, data) {
  const host = document.createElement("div"), shadow = host.attachShadow({ mode: "open" });
  shadow.innerHTML = root.querySelector("[data-fleet=ui]").textContent;
  const form = document.createElement("form");
  form.setAttribute("aria-label", "Levers");
  const levers = data.levers.map((lever, i) => {
    const label = document.createElement("label"), head = document.createElement("span");
    label.className = "lever";
    head.append(lever.name);
    label.append(head);
    const control = document.createElement(lever.choice ? "select" : "input");
    control.dataset.lever = lever.name;
    control.dataset.index = i;
    if (lever.choice) {
      for (const [n, text] of lever.labels.entries()) control.add(new Option(text, n));
    } else {
      control.type = "range";
      control.min = 0;
      control.max = lever.labels.length - 1;
      control.step = 1;
      const out = document.createElement("output");
      head.append(out);
      control.write = () => {
        out.textContent = lever.labels[control.value];
        control.setAttribute("aria-valuetext", lever.labels[control.value]);
      };
    }
    label.append(control);
    form.append(label);
    return control;
  });
  const foot = document.createElement("div"), stop = document.createElement("button"), status = document.createElement("p");
  foot.className = "foot";
  stop.type = "button";
  stop.textContent = "Stop";
  stop.dataset.act = "stop";
  stop.title = "End the cell and keep the last view";
  status.setAttribute("role", "status");
  foot.append(stop, status);
  form.append(foot);
  form.addEventListener("submit", (ev) => ev.preventDefault());
  shadow.append(form);
  return { host, form, levers, stop, status };
}

function live(root, data) {
  const ui = build(root, data), address = "/fleetlab/live/" + data.key, began = performance.now();
  const hint = root.querySelector("p"), note = document.createElement("p");
  let shown = false, over = false, seq = 0, seen = 0, sentAt = 0, touchedAt = 0, movedAt = 0, timer = 0, heardAt = began, waiting = othersWait(root), comm = null;

  const send = (kind, more) => {
    if (comm && globalThis.gonb_comm === comm) comm.send(address, JSON.stringify({ kind, hidden: document.hidden, ...more }));
  };
  const view = () => document.querySelector('[data-fleet-live-of="' + data.key + '"]');

  function say(state, text) {
    if (ui.status.dataset.state === state && ui.status.textContent === text) return;
    ui.status.dataset.state = state;
    ui.status.textContent = text;
    root.dataset.state = state;
  }

  function place(at) {
    at.forEach((n, i) => {
      ui.levers[i].value = n;
      ui.levers[i].write?.();
    });
  }

  // attach takes the connection that GoNB has made, and each one that it makes later.
  function attach() {
    const now = globalThis.gonb_comm;
    if (!now || now === comm) return;
    comm = now;
    comm.subscribe("#heartbeat/pong", () => { heardAt = performance.now(); });
  }

  // calling tells whether the cell can still answer for the first time: it may compute its first view for long.
  function calling() {
    const cell = root.closest(".jp-Cell");
    return cell ? star(cell) : performance.now() - began < CALL_MS;
  }

  // giveUp leaves the hint alone in its place.
  function giveUp() {
    clearInterval(pulse);
    root.dataset.ready = "no";
    hint.hidden = false;
    note.remove();
  }

  function read() {
    const out = view();
    if (!out || out.dataset.heard !== "true") return;
    if (!shown) {
      shown = true;
      seq = seen = Number(out.dataset.seq);
      place(out.dataset.at.split(" ").map(Number));
      note.replaceWith(ui.host);
      root.dataset.ready = "yes";
      heardAt = performance.now();
    }
    seen = Math.max(seen, Number(out.dataset.seq));
  }

  function tell() {
    if (over || !shown) return;
    if (seen < seq) {
      const s = Math.floor((performance.now() - movedAt) / 1000);
      say("computing", "computing …" + (s > 1 ? " " + s + " s" : ""));
    } else {
      say("live", waiting ? "live, but other cells wait: touch a lever to keep it so" : "live");
    }
  }

  function move() {
    timer = 0;
    sentAt = performance.now();
    movedAt = seen < seq ? movedAt : sentAt;
    seq++;
    send("move", { seq, at: ui.levers.map((lever) => Number(lever.value)) });
    tell();
  }

  function touch() {
    waiting = false;
    if (performance.now() - touchedAt < BEAT_MS) return;
    touchedAt = performance.now();
    send("touch");
  }

  function turned(ev) {
    ev.target.write?.();
    touch();
    if (!timer) timer = setTimeout(move, Math.max(0, SEND_MS - (performance.now() - sentAt)));
  }

  function end(text) {
    over = true;
    clearInterval(pulse);
    for (const el of [...ui.levers, ui.stop]) el.disabled = true;
    say("gone", text);
  }

  let wasWaiting = waiting, pinged = 0, endedAt = 0;

  // died tells whether the cell has been over for a while, and has not taken its levers with it as it does when it can.
  function died() {
    const cell = root.closest(".jp-Cell");
    if (!cell?.querySelector(".jp-InputArea-prompt") || star(cell)) endedAt = 0;
    else endedAt ||= performance.now();
    return endedAt && performance.now() - endedAt > 2 * BEAT_MS;
  }

  function beat() {
    if (!root.isConnected) { // closed, or replaced by what the cell leaves behind
      if (performance.now() - began > CALL_MS) clearInterval(pulse);
      return;
    }
    attach();
    read();
    if (!shown) {
      if (!calling()) return giveUp();
      waiting = wasWaiting = othersWait(root);
      send("hello", { waiting });
      return;
    }
    tell();
    if (performance.now() - pinged < BEAT_MS) return;
    pinged = performance.now();
    const others = othersWait(root);
    if (others && !wasWaiting) {
      waiting = true;
      send("wait");
    }
    wasWaiting = others;
    if (!others) waiting = false;
    send("alive");
    comm?.send("#heartbeat/ping", true);
    if (died() || performance.now() - heardAt > DEAF_MS && !document.hidden) {
      end("The kernel is gone, or its cell has ended. The last view stays; run this cell again to take the levers.");
    }
  }

  hint.hidden = true;
  note.textContent = "Calling the kernel …";
  root.append(note);
  const pulse = setInterval(beat, 100);
  for (const lever of ui.levers) lever.addEventListener("input", turned);
  for (const kind of ["pointerdown", "pointermove", "keydown", "focusin"]) ui.form.addEventListener(kind, touch);
  ui.host.addEventListener("keydown", (ev) => ev.stopPropagation()); // no shortcuts of the notebook while a lever is held
  ui.stop.addEventListener("click", () => { send("stop"); say("computing", "stopping …"); });
  window.addEventListener("pagehide", () => send("bye"));
  place(data.levers.map((lever) => lever.at));
  beat();
}

mendGoNB();
// As with the cockpit, a script does not know which output it belongs to. A cell that does not run has nobody to answer.
for (const root of document.querySelectorAll("[data-fleet-live]:not([data-ready])")) {
  const cell = root.closest(".jp-Cell");
  if (!root.querySelector("[data-fleet=data]") || cell?.querySelector(".jp-InputArea-prompt") && !star(cell)) continue;
  root.dataset.ready = "calling";
  live(root, JSON.parse(root.querySelector("[data-fleet=data]").textContent));
}
