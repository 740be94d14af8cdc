// The cockpit in the browser. It finds its output by a data attribute, reads the lever grid from the script beside it, and switches
// among its runs. It needs no kernel, no network and no permission. Whatever goes wrong, the static picture and the tables stay.

const PLAY_MS = 24000; // one pass over the run, at speed 1
const KEPT = 48; // runs that stay unpacked

function clock(ms) {
  const two = (n) => String(n).padStart(2, "0");
  let s = Math.floor(ms / 1000), days = "";
  if (s >= 172800) {
    days = Math.floor(s / 86400) + "d\u00a0";
    s %= 86400;
  }
  return days + two(Math.floor(s / 3600)) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(s % 60);
}

const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

async function inflate(base64) {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// load is the grid: what Go's payload holds, the jobs, and a function that unpacks the run of a setting once.
async function load(root) {
  const bytes = await inflate(root.querySelector("[data-fleet=data]").textContent);
  const len = new DataView(bytes.buffer).getUint32(0, true);
  const grid = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + len))), base = 4 + len;
  const t = grid.topology;
  const topo = { pods: t.Pods, racks: t.RacksPerPod, perRack: t.NodesPerRack, gpus: t.GPUsPerNode, nodes: t.Pods * t.RacksPerPod * t.NodesPerRack };
  const jobs = unpackJobs(bytes, base), runs = new Map();
  const run = (i) => { // the last ones used come last
    const s = grid.settings[i], f = { tau: grid.taus[s.levers[4]].ms, pauses: s.pauses, outages: grid.outages[s.outages], gaveUp: s.gaveUp };
    const r = runs.get(i) || { spans: unpackRun(bytes, base + s.at, topo, jobs, grid.horizon, f), ...f };
    runs.delete(i);
    runs.set(i, r);
    if (runs.size > KEPT) runs.delete(runs.keys().next().value);
    return r;
  };
  return { grid, topo, jobs, run };
}

function cockpit(root, data) {
  const { grid, topo, jobs } = data;
  const shadow = root.attachShadow({ mode: "open" });
  shadow.innerHTML = root.querySelector("[data-fleet=ui]").textContent;
  const $ = (q) => shadow.querySelector(q), $$ = (q) => [...shadow.querySelectorAll(q)];
  const bigIndex = grid.big ? jobs.id.indexOf(grid.big) : -1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const map = $(".map"), strip = $(".strip"), timer = $("[data-lever=time]"), tau = $("[data-lever=checkpoint]");
  const heat = heatmap(map, $(".over"), topo);
  const at = { policy: 0, preempt: 0, defrag: 0, strategy: 0, tau: 0, t: grid.start, gpu: -1, job: -1, playing: 0, scrolling: 0 };
  let setting = -1, snap = null, strips = new Map(), ink = null, log = [], past = 0;

  // Levers.

  // indexOf is the number of a setting, -1 if there is none.
  function indexOf({ policy, preempt, defrag, strategy, tau }) {
    const p = grid.policies[policy], w = grid.switches, pre = w < 2 ? 0 : p.implies ? 1 : preempt;
    return grid.index[(((policy * w + pre) * w + (w < 2 ? 0 : defrag)) * grid.strategies.length + strategy) * grid.taus.length + (p.only >= 0 ? p.only : tau)];
  }

  function code() {
    const p = grid.policies[at.policy], s = grid.strategies[at.strategy];
    const on = (lever, own) => (grid.switches < 2 ? own : !!lever);
    const lines = [
      "c := fleet.Default()", p.code ? "c.Policy = " + p.code : "// c.Policy: your own, " + p.name,
      "c.Preempt = " + (on(at.preempt, grid.preempt) || p.implies), "c.Defrag = " + on(at.defrag, grid.defrag),
    ];
    if (grid.replicas || grid.strategies.length > 1) lines.push(s.code ? "c.Rescale = " + s.code : "// c.Rescale: your own, " + s.name);
    return [...lines, "c.Checkpoint = " + grid.taus[at.tau].code].join("\n");
  }

  function showLevers() {
    const p = grid.policies[at.policy], step = grid.taus[at.tau];
    for (const name of ["policy", "strategy"]) for (const r of $$("[data-lever=" + name + "]")) r.checked = Number(r.value) === at[name];
    if (grid.switches > 1) {
      const pre = $("[data-lever=preempt]");
      pre.checked = p.implies || !!at.preempt;
      pre.disabled = p.implies;
      $("[data-out=why]").hidden = !p.implies;
      $("[data-lever=defrag]").checked = !!at.defrag;
    }
    tau.value = step.place;
    tau.disabled = p.only >= 0 || grid.taus.length < 2;
    $("[data-out=only]").hidden = p.only < 0;
    tau.setAttribute("aria-valuetext", step.name);
    $("[data-out=tau]").textContent = step.name;
    $("[data-out=code]").textContent = code();
  }

  function choose() {
    if (grid.policies[at.policy].only >= 0) at.tau = grid.policies[at.policy].only;
    showLevers();
    const next = indexOf(at);
    if (next === setting) return;
    setting = next;
    const s = grid.settings[setting], open = $$("details[data-card][open]").map((d) => d.dataset.card);
    root.dataset.setting = setting;
    $(".badges").innerHTML = s.badges;
    $("[data-zone='Z3.ledger']").innerHTML = s.ledger;
    for (const d of $$("details[data-card]")) d.open = open.includes(d.dataset.card);
    showLog(s);
    at.job = -1;
    jump(at.t);
    requestAnimationFrame(drawStrip); // its own share of work: the lever answers first
    later(neighbours());
  }

  // neighbours is the settings that one move of one lever away.
  function neighbours() {
    const list = [], add = (change) => {
      const i = indexOf({ ...at, ...change });
      if (i >= 0 && i !== setting && !list.includes(i)) list.push(i);
    };
    for (const tau of [at.tau - 1, at.tau + 1]) if (grid.taus[tau]) add({ tau });
    grid.policies.forEach((_, policy) => add({ policy }));
    grid.strategies.forEach((_, strategy) => add({ strategy }));
    if (grid.switches > 1) for (const change of [{ preempt: 1 - at.preempt }, { defrag: 1 - at.defrag }]) add(change);
    return list;
  }

  // later unpacks runs while the page has nothing else to do, one after the other, until another setting is chosen.
  function later(list) {
    const idle = window.requestIdleCallback || ((f) => setTimeout(f, 60)), mine = setting;
    const next = () => {
      if (mine !== setting || !list.length || !root.isConnected) return;
      data.run(list.shift());
      idle(next);
    };
    idle(next);
  }

  function nearest(place) {
    let best = 0;
    grid.taus.forEach((x, i) => { if (Math.abs(x.place - place) < Math.abs(grid.taus[best].place - place)) best = i; });
    return best;
  }

  // Time.

  function jump(t) {
    at.t = Math.max(0, Math.min(grid.horizon, Math.round(t)));
    const run = data.run(setting);
    snap = snapshot(topo, jobs, run.spans, run, Math.min(at.t, grid.horizon - 1));
    timer.value = at.t;
    timer.setAttribute("aria-valuetext", clock(at.t));
    $("[data-out=time]").textContent = clock(at.t);
    showCounts();
    markLog();
    drawMap();
    inspect();
  }

  function showCounts() {
    const put = (key, value, text) => {
      const li = $("[data-count=" + key + "]");
      if (!li) return;
      li.dataset.value = value;
      li.querySelector("b").textContent = text;
    };
    const nodes = (n) => number(n) + (n === 1 ? " node" : " nodes");
    put("working", snap.working, number(snap.working));
    put("idle", snap.idle, number(snap.idle));
    put("failed", snap.failed, number(snap.failed));
    put("stranded", snap.stranded, number(snap.stranded));
    put("queued", snap.queued, number(snap.queued) + (snap.queued === 1 ? " job" : " jobs"));
    put("hole", snap.hole.len, nodes(snap.hole.len) + (grid.need ? ", " + number(grid.need) + " needed" : ""));
    put("big", ...bigState());
    const stop = data.run(setting).pauses.find(([from, to]) => from <= snap.t && snap.t < to);
    put("paused", stop ? stop[1] : "", stop ? clock(stop[1]) : "");
    $("[data-count=paused]").hidden = !stop;
    $("[data-count=hole]").dataset.node = snap.hole.node;
    map.setAttribute("aria-label", "Heatmap at " + clock(at.t) + ": " + number(snap.working) + " GPUs working, " + number(snap.idle) + " idle, " +
      number(snap.failed) + " failed, " + number(snap.stranded) + " stranded; largest hole " + nodes(snap.hole.len));
    map.dataset.time = at.t;
    showFree();
  }

  // showFree counts the nodes that are up by their free GPUs: where the idle GPUs are.
  function showFree() {
    const per = topo.gpus, nodes = new Array(per + 1).fill(0);
    for (let n = 0; n < topo.nodes; n++) {
      let free = 0, down = 0;
      for (let i = n * per; i < (n + 1) * per; i++) {
        free += snap.state[i] === IDLE;
        down += snap.state[i] === FAILED;
      }
      if (down < per) nodes[free]++;
    }
    const most = Math.max(1, ...nodes);
    $$("[data-free]").forEach((tr, i) => {
      tr.dataset.nodes = nodes[i];
      tr.querySelector("td").textContent = number(nodes[i]);
      tr.querySelector("i").style.width = Math.min(100, nodes[i] / most * 100) + "%";
    });
  }

  function bigState() {
    if (bigIndex < 0) return ["none", ""];
    if (jobs.arrival[bigIndex] > at.t) return ["absent", "not here yet"];
    const run = data.run(setting), s = run.spans, given = run.gaveUp.find(([job, when]) => job === bigIndex && when <= snap.t);
    if (given) return ["over", "ended for good at " + clock(given[1])];
    let done = false;
    for (let i = 0; i < s.n && s.start[i] <= snap.t; i++) {
      if (s.job[i] !== bigIndex) continue;
      if (s.end[i] > snap.t) return ["runs", grid.replicas ? ringState(s.busy[i]) : placeOf(s, i)];
      done = s.reason[i] === DONE;
    }
    return done ? ["done", "done"] : ["waits", grid.replicas ? "waits in the queue" : "waits"];
  }

  function ringState(busy) {
    const n = Math.round(busy / grid.replica);
    return (n ? number(n) : "stands still, none") + " of " + number(grid.replicas) + " replicas at work";
  }

  function placeOf(s, i) {
    const from = s.node[i], count = s.nodes[i];
    if (count === 1) return "on node " + from;
    return s.set[i] ? "on " + number(count) + " nodes from " + from + " on" : "on nodes " + from + "–" + (from + count - 1);
  }

  function play() {
    const b = $("[data-act=play]");
    cancelAnimationFrame(at.playing);
    clearTimeout(at.playing);
    if (b.dataset.on) {
      delete b.dataset.on;
      b.textContent = "▶";
      b.setAttribute("aria-label", "Play");
      return;
    }
    b.dataset.on = 1;
    b.textContent = "❚❚";
    b.setAttribute("aria-label", "Pause");
    if (at.t >= grid.horizon) at.t = 0;
    let last = performance.now();
    const tick = (now) => {
      if (!b.dataset.on || !root.isConnected) return;
      const speed = Number($("[data-lever=speed]").value);
      jump(at.t + (calm.matches ? grid.horizon / 24 : (now - last) / PLAY_MS * grid.horizon) * speed);
      last = now;
      if (at.t >= grid.horizon) return play();
      at.playing = calm.matches ? setTimeout(() => tick(performance.now()), 800) : requestAnimationFrame(tick);
    };
    at.playing = requestAnimationFrame(tick);
  }

  // step jumps to the next instant with an incident, or to the one before.
  function step(by) {
    const times = log.map((x) => x.t);
    const t = by > 0 ? times.find((t) => t > at.t) : times.findLast((t) => t < at.t);
    if (t !== undefined) jump(t);
  }

  // Log.

  function showLog(s) {
    const list = $(".log ol");
    log = s.log.map(([t, id, node, job, text]) => {
      const li = document.createElement("li"), b = document.createElement("button");
      const when = document.createElement("time"), no = document.createElement("b"), what = document.createElement("span");
      b.type = "button";
      when.textContent = clock(t);
      no.textContent = "#" + id;
      what.textContent = grid.texts[text];
      b.append(when, no, what);
      li.append(b);
      Object.assign(li.dataset, { incident: id, at: t, node, job });
      li.classList.add("later");
      b.addEventListener("click", () => jump(t));
      return { t, li };
    });
    past = 0;
    list.classList.toggle("long", log.length > 200); // only what is in sight is laid out
    list.replaceChildren(...log.map((x) => x.li));
    list.tabIndex = log.length ? -1 : 0;
    const all = log.length + s.more;
    $("[data-out=events]").textContent = "· " + number(all) + (all === 1 ? " incident" : " incidents") + " of this run; a click moves the time there";
    const more = $("[data-out=more]");
    more.hidden = !s.more;
    more.textContent = "… and " + number(s.more) + " more: to read them, run the cell with these levers.";
  }

  // markLog tells past from future. Only the entries between the last instant and this one change.
  function markLog() {
    let n = past;
    while (n < log.length && log[n].t <= at.t) log[n++].li.classList.remove("later");
    while (n > 0 && log[n - 1].t > at.t) log[--n].li.classList.add("later");
    past = n;
    const list = $(".log ol"), now = n ? log[n - 1].t : null;
    for (const li of list.querySelectorAll(".now")) if (Number(li.dataset.at) !== now) li.classList.remove("now");
    let first = n;
    while (first > 0 && log[first - 1].t === now) log[--first].li.classList.add("now");
    cancelAnimationFrame(at.scrolling); // to ask where an entry stands costs a layout of the whole cockpit
    if (n) at.scrolling = requestAnimationFrame(() => scrollTo(list, log[first]?.li));
  }

  // scrollTo brings an entry into sight within the list: the page must not move.
  function scrollTo(list, li) {
    if (!li?.isConnected) return;
    const top = li.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + li.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 30;
  }

  // Heatmap.

  function colours() {
    const probe = document.createElement("span"), get = (name) => {
      probe.style.color = "var(--" + name + ")";
      return getComputedStyle(probe).color;
    };
    shadow.append(probe);
    ink = {};
    for (const name of ["working", "idle", "rim", "failed", "stranded", "stripe", "big", "hole", "text", "dim", "bg", "edge", "bad", "line"]) ink[name] = get(name);
    ink.failedRim = get("failed-rim");
    probe.remove();
  }

  // drawMap brings the heatmap up to date, or with anew draws all of it.
  function drawMap(anew) {
    if (!snap) return;
    map.dataset.drawn = heat.draw(snap.state, ink, anew);
    heat.marks((g, layout, line) => {
      const run = data.run(setting), dpr = layout.dpr;
      for (const [n, from, to] of run.outages) {
        if (from <= snap.t && to > snap.t) frames(g, layout, [n], ink.bad, [], Math.max(1, Math.round(1.5 * dpr)));
      }
      if (bigIndex >= 0 && jobs.n > 1) frameJob(g, layout, bigIndex, ink.big, line);
      if (snap.hole.len) frames(g, layout, span(snap.hole.node, snap.hole.node + snap.hole.len), ink.hole, [3 * dpr, 2 * dpr], line);
      if (at.job >= 0 && at.job !== bigIndex) markJob(g, line);
      if (at.gpu < 0) return;
      const [x, y, w, h] = heat.cell(at.gpu);
      for (const [colour, width] of [[ink.bg, line * 2], [ink.text, line]]) {
        g.strokeStyle = colour;
        g.lineWidth = width;
        g.strokeRect(x - line, y - line, w + 2 * line, h + 2 * line);
      }
    });
  }

  function frameJob(g, layout, job, colour, line) {
    const s = data.run(setting).spans;
    for (let i = 0; i < s.n && s.start[i] <= snap.t; i++) {
      if (s.job[i] === job && s.end[i] > snap.t) frames(g, layout, s.set[i] || span(s.node[i], s.node[i] + s.nodes[i]), colour, [], line);
    }
  }

  function markJob(g, line) {
    const s = data.run(setting).spans;
    g.strokeStyle = ink.text;
    g.lineWidth = line;
    for (let i = 0; i < snap.span.length; i++) {
      if (snap.span[i] >= 0 && s.job[snap.span[i]] === at.job) g.strokeRect(...heat.cell(i));
    }
  }

  function drawKeys() {
    for (const k of $$(".key")) {
      const g = k.getContext("2d"), what = k.dataset.key, state = { working: WORKING, idle: IDLE, failed: FAILED, stranded: STRANDED }[what];
      g.clearRect(0, 0, 26, 26);
      if (state !== undefined) drawCell(g, ink, state, 1, 1, 24, 24);
      else {
        g.strokeStyle = ink[what];
        g.lineWidth = 4;
        g.setLineDash(what === "hole" ? [6, 4] : []);
        g.strokeRect(3, 3, 20, 20);
      }
    }
  }

  // drawStrip draws idle GPUs, the largest hole and the incidents over time, above the scrubber.
  function drawStrip() {
    if (setting < 0 || !strip.clientWidth) return;
    const dpr = window.devicePixelRatio || 1, W = Math.round(strip.clientWidth * dpr), H = Math.round(46 * dpr), top = 9 * dpr;
    size(strip, W, H, dpr);
    const run = data.run(setting);
    if (!strips.has(setting)) strips.set(setting, profile(topo, run.spans, run, grid.horizon, 480));
    const p = strips.get(setting), need = grid.need * topo.gpus, ring = grid.replicas > 0;
    const most = Math.max(1, need * 1.15, ...p.map((q) => Math.max(ring ? q.stranded : 0, q.t >= grid.horizon * 0.2 || !need ? q.idle : 0)));
    const x = (t) => t / grid.horizon * W, y = (n) => H - Math.min(1, n / most) * (H - top), g = strip.getContext("2d");
    g.clearRect(0, 0, W, H);
    g.globalAlpha = 0.45;
    g.fillStyle = ink.edge;
    g.beginPath();
    g.moveTo(0, H);
    for (const q of p) g.lineTo(x(q.t), y(q.idle));
    g.lineTo(W, H);
    g.fill();
    g.globalAlpha = 1;
    const stroke = (colour, width, dash) => {
      g.strokeStyle = colour;
      g.lineWidth = width * dpr;
      g.setLineDash(dash.map((d) => d * dpr));
      g.stroke();
      g.setLineDash([]);
    };
    if (need) {
      g.beginPath();
      g.moveTo(0, y(need));
      g.lineTo(W, y(need));
      stroke(ink.big, 1.5, [5, 4]);
    }
    g.beginPath();
    p.forEach((q, i) => (i ? g.lineTo : g.moveTo).call(g, x(q.t), Math.min(H - dpr, y(ring ? q.stranded : q.hole * topo.gpus))));
    stroke(ring ? ink.dim : ink.hole, 2, []);
    g.fillStyle = ink.bad;
    const half = (log.length > 100 ? 0.5 : 4) * dpr; // many incidents are ticks, few are triangles
    for (const { t } of log) {
      g.beginPath();
      g.moveTo(x(t) - half, 0);
      g.lineTo(x(t) + half, 0);
      g.lineTo(x(t) + (half < dpr ? half : 0), 6 * dpr);
      if (half < dpr) g.lineTo(x(t) - half, 6 * dpr);
      g.fill();
    }
  }

  // Inspection.

  function describe(gpu) {
    const n = Math.floor(gpu / topo.gpus), rack = Math.floor(n / topo.perRack), pod = Math.floor(rack / topo.racks);
    const run = data.run(setting), s = run.spans, bit = 1 << gpu % topo.gpus, state = snap.state[gpu], held = snap.span[gpu];
    let since = 0, until = grid.horizon, why = "";
    for (let i = 0; i < s.n; i++) {
      if (!(s.mask[i] & bit) || !holds(s, i, n)) continue;
      if (s.end[i] <= snap.t) since = Math.max(since, s.end[i]);
      if (s.start[i] > snap.t) until = Math.min(until, s.start[i]);
    }
    for (const [node, from, to, mask] of run.outages) {
      if (node !== n || !(mask & bit)) continue;
      if (to <= snap.t) since = Math.max(since, to);
      else if (from > snap.t) until = Math.min(until, from);
      else [since, until, why] = [from, to, to < grid.horizon ? " (repaired)" : ""];
    }
    const out = [["GPU", number(gpu)], ["node", n], ["rack", rack], ["pod", pod], ["state", ["idle", "working", "failed", "stranded"][state]]];
    if (held >= 0) {
      const j = s.job[held];
      if (state !== FAILED) {
        [since, until] = [s.start[held], s.end[held]];
        why = " (" + ["done", "its node fails", "evicted", "migrated", "end of the run", "its nodes change"][s.reason[held]] + ")";
      }
      out.push(["job", jobs.id[j] + ", " + number(jobs.gpus[j]) + (jobs.gpus[j] === 1 ? " GPU" : " GPUs") + (j === bigIndex && jobs.n > 1 ? ", the big job" : "")]);
    }
    out.push(["since", clock(since)], ["until", clock(until) + why]);
    return out;
  }

  // find answers "where is job 17?": it marks the job where it runs now, or says when and where it does.
  function find(text) {
    const out = $("[data-out=found]"), id = Number(text.replace(/^#|,/g, "").trim());
    const say = (words) => { out.hidden = !words; out.textContent = words; };
    at.job = -1;
    if (!text.trim()) {
      say("");
      return drawMap();
    }
    const job = jobs.id.indexOf(id);
    if (job < 0) {
      say("There is no job " + text.trim() + ": numbers go from " + jobs.id.reduce((a, b) => Math.min(a, b), Infinity) + " to " + jobs.id.reduce((a, b) => Math.max(a, b), 0) + ".");
      return drawMap();
    }
    const s = data.run(setting).spans, mine = span(0, s.n).filter((i) => s.job[i] === job), now = mine.find((i) => s.start[i] <= snap.t && s.end[i] > snap.t);
    if (now !== undefined) {
      at.job = job;
      at.gpu = snap.span.indexOf(now);
      say("Job " + id + " runs " + placeOf(s, now) + ".");
      drawMap();
      return inspect();
    }
    const next = mine.find((i) => s.start[i] > snap.t), last = mine.findLast((i) => s.end[i] <= snap.t), near = next ?? last;
    const which = near === undefined ? "arrives at " + clock(jobs.arrival[job]) + " and never starts in this run" :
      (next !== undefined ? "starts at " : "ran from ") + clock(s.start[near]) + (next !== undefined ? "" : " to " + clock(s.end[near])) + ", " + placeOf(s, near);
    say("Job " + id + " does not run now. It " + which + ". ");
    if (near !== undefined) {
      const go = document.createElement("button");
      go.type = "button";
      go.textContent = "Go there";
      go.addEventListener("click", () => { jump(s.start[near]); find(text); });
      out.append(go);
    }
    drawMap();
  }

  function inspect() {
    const box = $("[data-out=inspector]");
    if (at.gpu < 0) {
      const p = document.createElement("p");
      p.textContent = "Point at a GPU, or move to the heatmap with Tab and use the arrow keys: its node, rack and job stand here. A click or Enter marks the job.";
      box.replaceChildren(p);
      delete box.dataset.gpu;
      return;
    }
    const dl = document.createElement("dl");
    for (const [key, value] of describe(at.gpu)) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = key;
      dd.textContent = value;
      dd.dataset.inspect = key;
      dl.append(dt, dd);
    }
    box.replaceChildren(dl);
    box.dataset.gpu = at.gpu;
  }

  function look(gpu) {
    if (gpu === at.gpu) return;
    at.gpu = gpu;
    drawMap();
    inspect();
  }

  function mark() {
    const i = at.gpu < 0 ? -1 : snap.span[at.gpu], job = i < 0 ? -1 : data.run(setting).spans.job[i];
    at.job = job === at.job ? -1 : job;
    $("[data-lever=find]").value = at.job < 0 ? "" : jobs.id[job];
    $("[data-out=found]").hidden = true;
    drawMap();
  }

  function mapKey(ev) {
    const per = topo.gpus, pod = topo.racks * topo.perRack * per, last = topo.nodes * per - 1;
    const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -per, ArrowRight: per, PageUp: -pod, PageDown: pod }[ev.key];
    if (step) look(at.gpu < 0 ? 0 : Math.max(0, Math.min(last, at.gpu + step)));
    else if (ev.key === "Home") look(0);
    else if (ev.key === "End") look(last);
    else if (ev.key === "Enter" || ev.key === " ") mark();
    else if (ev.key === "Escape") look(-1);
    else return;
    ev.preventDefault();
  }

  // Copy works without the clipboard too: then the lines are selected, and the person presses the keys.
  async function copy() {
    const b = $("[data-act=copy]"), lines = $("[data-out=code]");
    try {
      await navigator.clipboard.writeText(code());
      b.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(lines);
      const sel = getSelection();
      sel.removeAllRanges();
      sel.addRange(range);
      b.textContent = "Ctrl+C";
    }
    setTimeout(() => { b.textContent = "Copy"; }, 2000);
  }

  function stepKeys(el, move) {
    el.addEventListener("keydown", (ev) => {
      const dir = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[ev.key], far = { PageDown: -1, PageUp: 1 }[ev.key];
      if (!dir && !far) return;
      ev.preventDefault();
      move(dir || 0, far || 0);
    });
  }

  function listen() {
    for (const name of ["policy", "strategy"]) {
      for (const r of $$("[data-lever=" + name + "]")) r.addEventListener("change", () => { at[name] = Number(r.value); choose(); });
    }
    if (grid.switches > 1) {
      for (const name of ["preempt", "defrag"]) {
        const box = $("[data-lever=" + name + "]");
        box.addEventListener("change", () => { at[name] = Number(box.checked); choose(); });
      }
    }
    tau.addEventListener("input", () => { at.tau = nearest(Number(tau.value)); choose(); });
    stepKeys(tau, (one, far) => {
      at.tau = Math.max(0, Math.min(grid.taus.length - 1, at.tau + one + 2 * far));
      choose();
    });
    timer.addEventListener("input", () => jump(Number(timer.value)));
    const minute = 60000 * Math.max(1, Math.round(grid.horizon / 43200000)); // a key moves by a minute of a run of 12 hours
    stepKeys(timer, (one, far) => jump(at.t + one * minute + far * 60 * minute));
    $("[data-act=back]").addEventListener("click", () => step(-1));
    $("[data-act=next]").addEventListener("click", () => step(1));
    $("[data-lever=find]").addEventListener("change", (ev) => find(ev.target.value));
    $("[data-act=play]").addEventListener("click", play);
    $("[data-act=copy]").addEventListener("click", copy);
    $(".levers").addEventListener("submit", (ev) => ev.preventDefault());
    map.addEventListener("pointermove", (ev) => look(heat.gpuAt(ev)));
    map.addEventListener("pointerleave", () => look(-1));
    map.addEventListener("click", (ev) => { look(heat.gpuAt(ev)); mark(); });
    map.addEventListener("keydown", mapKey);
    root.addEventListener("keydown", (ev) => ev.stopPropagation()); // no shortcuts of the notebook while a lever is held
    const redraw = () => { colours(); drawMap(true); drawStrip(); drawKeys(); };
    follow(root, map, redraw);
  }

  [at.policy, at.preempt, at.defrag, at.strategy, at.tau] = grid.settings[grid.initial].levers;
  if (grid.policies[at.policy].implies) at.preempt = 0;
  colours();
  drawKeys();
  listen();
  choose();
}

// leversOf is the levers that a cockpit cannot do without.
function leversOf(grid) {
  const list = ["checkpoint", "time"];
  if (grid.policies.length > 1) list.push("policy");
  if (grid.switches > 1) list.push("preempt", "defrag");
  if (grid.strategies.length > 1) list.push("strategy");
  return list;
}

// Each output's script looks after every cockpit that has not been started: where a front end makes the script anew, it does not know
// which one it belongs to.
for (const root of document.querySelectorAll("[data-fleet-cockpit]:not([data-ready])")) {
  if (!root.querySelector("[data-fleet=data]")) continue;
  root.dataset.ready = "loading";
  load(root).then((data) => {
    try {
      cockpit(root, data);
    } finally {
      mustHave(root, leversOf(data.grid)); // says more than an error about null
    }
    root.dataset.ready = "yes";
  }).catch((err) => excuse(root, err, "The levers"));
}
