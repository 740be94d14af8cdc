// The cockpit in the browser. It finds its output by a data attribute, reads the lever grid from the script beside it, and switches
// among its runs. It needs no kernel, no network and no permission. Whatever goes wrong, the static picture and the tables stay.

const PLAY_MS = 24000; // one pass over the run

function clock(ms) {
  const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, "0");
  return two(Math.floor(s / 3600)) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(s % 60);
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
  const jobs = unpackJobs(bytes, base), runs = [];
  const faults = (i) => {
    const s = grid.settings[i];
    return { tau: grid.taus[s.levers[3]].ms, pauses: s.pauses, outages: grid.outages[s.outages] };
  };
  const run = (i) => {
    if (!runs[i]) {
      const f = faults(i);
      runs[i] = { spans: unpackRun(bytes, base + grid.settings[i].at, topo, jobs, grid.horizon, f), ...f };
    }
    return runs[i];
  };
  return { grid, topo, jobs, run };
}

// mapLayout puts the nodes in lines: pods next to each other as long as they fit, long ones over several lines. All in device pixels.
function mapLayout(topo, width, dpr) {
  const pod = topo.racks * topo.perRack, label = Math.round(20 * dpr), edge = Math.round(6 * dpr);
  const avail = width - label - edge, least = Math.round(3.6 * dpr);
  let racksInLine = topo.racks;
  while (racksInLine > 1 && racksInLine * topo.perRack * least + racksInLine > avail) racksInLine = Math.ceil(racksInLine / 2);
  let nodesInLine = racksInLine * topo.perRack;
  if (nodesInLine * least > avail) nodesInLine = Math.max(1, Math.floor(avail / least));
  const podsInLine = racksInLine < topo.racks ? 1 : Math.max(1, Math.floor((avail / (11 * dpr) + 1.5) / (pod + 1.5)));
  const columns = podsInLine > 1 ? podsInLine * pod : nodesInLine;
  const gaps = Math.max(1, podsInLine > 1 ? podsInLine * topo.racks - 1 : racksInLine - 1);
  const pitch = Math.max(2, Math.min(Math.floor(12 * dpr), Math.floor(avail / (columns + 0.12 * gaps))));
  const gap = Math.min(1.8 * pitch, Math.max(0, (avail - columns * pitch) / gaps));
  const row = Math.max(2, Math.min(pitch, Math.round(7 * dpr))), high = topo.gpus * row, feed = high + Math.round(5 * dpr);
  const x = new Int32Array(topo.nodes), y = new Int32Array(topo.nodes), labels = [];
  let left = label, top = edge, inLine = 0;
  for (let n = 0; n < topo.nodes; n++) {
    const inPod = n % pod;
    if (n && (inPod === 0 ? inLine + pod > Math.max(columns, pod) || podsInLine === 1 || inLine + pod > columns : inLine >= nodesInLine && podsInLine === 1)) {
      left = label;
      top += feed + (inPod === 0 ? Math.round(2 * dpr) : 0);
      inLine = 0;
    } else if (n && n % topo.perRack === 0) left += gap;
    if (inPod === 0 && inLine === 0) labels.push([n / pod, top]);
    x[n] = Math.round(left);
    y[n] = top;
    left += pitch;
    inLine++;
  }
  return { x, y, pitch, row, high, label, labels, height: top + high + edge };
}

// drawCell draws a GPU: solid for working, a rim around white for idle, crossed out for failed.
function drawCell(g, ink, state, x, y, w, h) {
  if (state === WORKING) {
    g.fillStyle = ink.working;
    g.fillRect(x, y, w, h);
    return;
  }
  const rim = Math.max(1, Math.round(Math.min(w, h) / 5));
  g.fillStyle = state === FAILED ? ink.failedRim : ink.rim;
  g.fillRect(x, y, w, h);
  g.fillStyle = state === FAILED ? ink.failed : ink.idle;
  g.fillRect(x + rim, y + rim, w - 2 * rim, h - 2 * rim);
  if (state === FAILED) {
    g.strokeStyle = "#fff";
    g.lineWidth = Math.max(1, w / 6);
    g.beginPath();
    g.moveTo(x + 0.5, y + 0.5);
    g.lineTo(x + w - 0.5, y + h - 0.5);
    g.moveTo(x + w - 0.5, y + 0.5);
    g.lineTo(x + 0.5, y + h - 0.5);
    g.stroke();
  }
}

// frames draws a line around nodes from to to, once for each line of the map that they stand in.
function frames(g, map, from, to, colour, dash, width) {
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.setLineDash(dash);
  for (let a = from; a < to;) {
    let b = a;
    while (b + 1 < to && map.y[b + 1] === map.y[a]) b++;
    const o = width / 2;
    g.strokeRect(map.x[a] - o - 0.5, map.y[a] - o - 0.5, map.x[b] + map.pitch - map.x[a] + width, map.high + width);
    a = b + 1;
  }
  g.setLineDash([]);
}

function cockpit(root, data) {
  const { grid, topo, jobs } = data;
  const shadow = root.attachShadow({ mode: "open" });
  shadow.innerHTML = root.querySelector("[data-fleet=ui]").textContent;
  const $ = (q) => shadow.querySelector(q), $$ = (q) => [...shadow.querySelectorAll(q)];
  const bigIndex = grid.big ? jobs.id.indexOf(grid.big) : -1;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const map = $(".map"), strip = $(".strip"), timer = $("[data-lever=time]"), tau = $("[data-lever=checkpoint]");
  const at = { policy: 0, preempt: 0, defrag: 0, tau: 0, t: grid.start, gpu: -1, job: -1, playing: 0 };
  let setting = -1, snap = null, layout = null, strips = [], ink = null;

  // Levers.

  function chosen() {
    const p = grid.policies[at.policy], preempt = p.implies ? 1 : at.preempt;
    return grid.index[((at.policy * 2 + preempt) * 2 + at.defrag) * grid.taus.length + at.tau];
  }

  function code() {
    const p = grid.policies[at.policy];
    return [
      "c := fleet.Default()", p.code ? "c.Policy = " + p.code : "// c.Policy: your own, " + p.name, "c.Preempt = " + !!(at.preempt || p.implies), "c.Defrag = " + !!at.defrag,
      "c.Checkpoint = " + grid.taus[at.tau].code,
    ].join("\n");
  }

  function showLevers() {
    const p = grid.policies[at.policy], step = grid.taus[at.tau];
    for (const r of $$("[data-lever=policy]")) r.checked = Number(r.value) === at.policy;
    const pre = $("[data-lever=preempt]");
    pre.checked = p.implies || !!at.preempt;
    pre.disabled = p.implies;
    $("[data-out=why]").hidden = !p.implies;
    $("[data-lever=defrag]").checked = !!at.defrag;
    tau.value = step.place;
    tau.disabled = p.only >= 0;
    $("[data-out=only]").hidden = p.only < 0;
    tau.setAttribute("aria-valuetext", step.name);
    $("[data-out=tau]").textContent = step.name;
    $("[data-out=code]").textContent = code();
  }

  function choose() {
    if (grid.policies[at.policy].only >= 0) at.tau = grid.policies[at.policy].only;
    showLevers();
    const next = chosen();
    if (next === setting) return;
    setting = next;
    const s = grid.settings[setting], open = $$("details[data-card][open]").map((d) => d.dataset.card);
    root.dataset.setting = setting;
    $(".badges").innerHTML = s.badges;
    $("[data-zone='Z3.ledger']").innerHTML = s.ledger;
    for (const d of $$("details[data-card]")) d.open = open.includes(d.dataset.card);
    showLog(s.log);
    at.job = -1;
    jump(at.t);
    requestAnimationFrame(drawStrip); // its own share of work: the lever answers first
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
    put("queued", snap.queued, number(snap.queued) + (snap.queued === 1 ? " job" : " jobs"));
    put("hole", snap.hole.len, nodes(snap.hole.len) + (grid.need ? " of " + number(grid.need) + " needed" : ""));
    put("big", ...bigState());
    const stop = grid.settings[setting].pauses.find(([from, to]) => from <= snap.t && snap.t < to);
    put("paused", stop ? stop[1] : "", stop ? clock(stop[1]) : "");
    $("[data-count=paused]").hidden = !stop;
    const hole = $("[data-count=hole]");
    hole.dataset.node = snap.hole.node;
    map.setAttribute("aria-label", "Heatmap at " + clock(at.t) + ": " + number(snap.working) + " GPUs working, " + number(snap.idle) + " idle, " +
      number(snap.failed) + " failed; largest hole " + nodes(snap.hole.len));
    map.dataset.time = at.t;
    showFree();
  }

  // showFree counts the nodes that are up by their free GPUs: where the idle GPUs are.
  function showFree() {
    const per = topo.gpus, nodes = new Array(per + 1).fill(0);
    for (let n = 0; n < topo.nodes; n++) {
      let free = 0;
      for (let i = n * per; i < (n + 1) * per; i++) free += snap.state[i] === IDLE;
      if (snap.state[n * per] !== FAILED) nodes[free]++;
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
    const s = data.run(setting).spans;
    let done = false;
    for (let i = 0; i < s.n && s.start[i] <= snap.t; i++) {
      if (s.job[i] !== bigIndex) continue;
      if (s.end[i] > snap.t) return ["runs", "on nodes " + s.node[i] + "–" + (s.node[i] + s.nodes[i] - 1)];
      done = s.reason[i] === DONE;
    }
    return done ? ["done", "done"] : ["waits", "waits"];
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
      jump(at.t + (calm.matches ? grid.horizon / 24 : (now - last) / PLAY_MS * grid.horizon));
      last = now;
      if (at.t >= grid.horizon) return play();
      at.playing = calm.matches ? setTimeout(() => tick(performance.now()), 800) : requestAnimationFrame(tick);
    };
    at.playing = requestAnimationFrame(tick);
  }

  // Log.

  function showLog(log) {
    const list = $(".log ol");
    list.replaceChildren(...log.map(([t, id, node, job, text]) => {
      const li = document.createElement("li"), b = document.createElement("button");
      const when = document.createElement("time"), no = document.createElement("b"), what = document.createElement("span");
      b.type = "button";
      when.textContent = clock(t);
      no.textContent = "#" + id;
      what.textContent = grid.texts[text];
      b.append(when, no, what);
      li.append(b);
      Object.assign(li.dataset, { incident: id, at: t, node, job });
      b.addEventListener("click", () => jump(t));
      return li;
    }));
    list.tabIndex = log.length ? -1 : 0;
    $("[data-out=events]").textContent = "· " + number(log.length) + (log.length === 1 ? " incident" : " incidents") + " of this run; a click moves the time there";
  }

  function markLog() {
    let now = null;
    for (const li of $$(".log li")) {
      const t = Number(li.dataset.at);
      li.classList.toggle("later", t > at.t);
      li.classList.remove("now");
      if (t <= at.t) now = t;
    }
    const list = $(".log ol"), current = $$(".log li").filter((li) => Number(li.dataset.at) === now);
    for (const li of current) li.classList.add("now");
    if (!current.length) return;
    const top = current[0].offsetTop - list.offsetTop; // within the list: the page must not move
    if (top < list.scrollTop || top + current[0].offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - 30;
  }

  // Heatmap.

  function colours() {
    const probe = document.createElement("span"), get = (name) => {
      probe.style.color = "var(--" + name + ")";
      return getComputedStyle(probe).color;
    };
    shadow.append(probe);
    ink = {};
    for (const name of ["working", "idle", "rim", "failed", "big", "hole", "text", "dim", "bg", "edge", "bad", "line"]) ink[name] = get(name);
    ink.failedRim = get("failed-rim");
    probe.remove();
  }

  function size(canvas, width, height, dpr) {
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    canvas.style.height = height / dpr + "px";
  }

  function drawMap() {
    if (!snap || !map.clientWidth) return;
    const dpr = window.devicePixelRatio || 1, width = Math.round(map.clientWidth * dpr);
    if (!layout || layout.width !== width) layout = Object.assign(mapLayout(topo, width, dpr), { width });
    size(map, width, layout.height, dpr);
    const g = map.getContext("2d"), per = topo.gpus, gap = layout.row > 2 * dpr ? Math.max(1, Math.round(dpr * 0.9)) : 1;
    const w = layout.pitch - gap, h = layout.row - gap;
    g.clearRect(0, 0, map.width, map.height);
    for (let i = 0; i < snap.state.length; i++) {
      const n = Math.floor(i / per);
      drawCell(g, ink, snap.state[i], layout.x[n], layout.y[n] + i % per * layout.row, w, h);
    }
    g.fillStyle = ink.dim;
    g.font = Math.round(11 * dpr) + "px system-ui, sans-serif";
    g.textBaseline = "top";
    for (const [pod, y] of layout.labels) g.fillText(pod, Math.round(6 * dpr), y);
    const line = Math.max(2, Math.round(2 * dpr));
    for (const [n, from, to] of data.run(setting).outages) {
      if (from <= snap.t && to > snap.t) frames(g, layout, n, n + 1, ink.bad, [], Math.max(1, Math.round(1.5 * dpr)));
    }
    if (bigIndex >= 0) frameJob(g, bigIndex, ink.big, line);
    if (snap.hole.len) frames(g, layout, snap.hole.node, snap.hole.node + snap.hole.len, ink.hole, [3 * dpr, 2 * dpr], line);
    if (at.job >= 0 && at.job !== bigIndex) markJob(g, w, h, line);
    if (at.gpu >= 0) {
      const n = Math.floor(at.gpu / per), x = layout.x[n], y = layout.y[n] + at.gpu % per * layout.row;
      g.strokeStyle = ink.bg;
      g.lineWidth = line * 2;
      g.strokeRect(x - line, y - line, w + 2 * line, h + 2 * line);
      g.strokeStyle = ink.text;
      g.lineWidth = line;
      g.strokeRect(x - line, y - line, w + 2 * line, h + 2 * line);
    }
  }

  function frameJob(g, job, colour, line) {
    const s = data.run(setting).spans;
    for (let i = 0; i < s.n && s.start[i] <= snap.t; i++) {
      if (s.job[i] === job && s.end[i] > snap.t) frames(g, layout, s.node[i], s.node[i] + s.nodes[i], colour, [], line);
    }
  }

  function markJob(g, w, h, line) {
    const s = data.run(setting).spans;
    g.strokeStyle = ink.text;
    g.lineWidth = line;
    for (let i = 0; i < snap.span.length; i++) {
      if (snap.span[i] < 0 || s.job[snap.span[i]] !== at.job) continue;
      const n = Math.floor(i / topo.gpus);
      g.strokeRect(layout.x[n], layout.y[n] + i % topo.gpus * layout.row, w, h);
    }
  }

  function drawKeys() {
    for (const k of $$(".key")) {
      const g = k.getContext("2d"), what = k.dataset.key, state = { working: WORKING, idle: IDLE, failed: FAILED }[what];
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
    const run = data.run(setting), p = strips[setting] ||= profile(topo, run.spans, run, grid.horizon, 480);
    const need = grid.need * topo.gpus;
    const most = Math.max(1, need * 1.15, ...p.map((q) => q.t >= grid.horizon * 0.2 || !need ? q.idle : 0));
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
    p.forEach((q, i) => (i ? g.lineTo : g.moveTo).call(g, x(q.t), Math.min(H - dpr, y(q.hole * topo.gpus))));
    stroke(ink.hole, 2, []);
    g.fillStyle = ink.bad;
    for (const [t] of grid.settings[setting].log) {
      g.beginPath();
      g.moveTo(x(t) - 4 * dpr, 0);
      g.lineTo(x(t) + 4 * dpr, 0);
      g.lineTo(x(t), 6 * dpr);
      g.fill();
    }
  }

  // Inspection.

  function describe(gpu) {
    const n = Math.floor(gpu / topo.gpus), rack = Math.floor(n / topo.perRack), pod = Math.floor(rack / topo.racks);
    const run = data.run(setting), s = run.spans, bit = 1 << gpu % topo.gpus, state = snap.state[gpu];
    let since = 0, until = grid.horizon, why = "";
    for (let i = 0; i < s.n; i++) {
      if (n < s.node[i] || n >= s.node[i] + s.nodes[i] || !(s.mask[i] & bit)) continue;
      if (s.end[i] <= snap.t) since = Math.max(since, s.end[i]);
      if (s.start[i] > snap.t) until = Math.min(until, s.start[i]);
    }
    for (const [node, from, to] of run.outages) {
      if (node !== n) continue;
      if (to <= snap.t) since = Math.max(since, to);
      else if (from > snap.t) until = Math.min(until, from);
      else if (state === FAILED) [since, until, why] = [from, to, to < grid.horizon ? " (repaired)" : ""];
    }
    const out = [["GPU", number(gpu)], ["node", n], ["rack", rack], ["pod", pod], ["state", ["idle", "working", "failed"][state]]];
    if (state === WORKING) {
      const i = snap.span[gpu], j = s.job[i];
      [since, until] = [s.start[i], s.end[i]];
      why = " (" + ["done", "its node fails", "evicted", "migrated", "end of the run"][s.reason[i]] + ")";
      out.push(["job", jobs.id[j] + ", " + number(jobs.gpus[j]) + (jobs.gpus[j] === 1 ? " GPU" : " GPUs") + (j === bigIndex ? ", the big job" : "")]);
    }
    out.push(["since", clock(since)], ["until", clock(until) + why]);
    return out;
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

  function gpuAt(ev) {
    const box = map.getBoundingClientRect(), k = map.width / map.clientWidth;
    const px = (ev.clientX - box.left - map.clientLeft) * k, py = (ev.clientY - box.top - map.clientTop) * k;
    for (let n = 0; n < topo.nodes; n++) {
      const dx = px - layout.x[n], dy = py - layout.y[n];
      if (dx >= 0 && dx < layout.pitch && dy >= 0 && dy < layout.high) return n * topo.gpus + Math.floor(dy / layout.row);
    }
    return -1;
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
    for (const r of $$("[data-lever=policy]")) r.addEventListener("change", () => { at.policy = Number(r.value); choose(); });
    for (const name of ["preempt", "defrag"]) {
      const box = $("[data-lever=" + name + "]");
      box.addEventListener("change", () => { at[name] = Number(box.checked); choose(); });
    }
    tau.addEventListener("input", () => { at.tau = nearest(Number(tau.value)); choose(); });
    stepKeys(tau, (one, far) => {
      at.tau = Math.max(0, Math.min(grid.taus.length - 1, at.tau + one + 2 * far));
      choose();
    });
    timer.addEventListener("input", () => jump(Number(timer.value)));
    stepKeys(timer, (one, far) => jump(at.t + one * 60000 + far * 3600000));
    $("[data-act=play]").addEventListener("click", play);
    $("[data-act=copy]").addEventListener("click", copy);
    $(".levers").addEventListener("submit", (ev) => ev.preventDefault());
    map.addEventListener("pointermove", (ev) => look(gpuAt(ev)));
    map.addEventListener("pointerleave", () => look(-1));
    map.addEventListener("click", (ev) => { look(gpuAt(ev)); mark(); });
    map.addEventListener("keydown", mapKey);
    root.addEventListener("keydown", (ev) => ev.stopPropagation()); // no shortcuts of the notebook while a lever is held
    const redraw = () => { colours(); layout = null; drawMap(); drawStrip(); drawKeys(); };
    follow(root, map, redraw);
  }

  if (grid.policies.length > 3) $(".choice").classList.add("many");
  [at.policy, at.preempt, at.defrag, at.tau] = grid.settings[grid.initial].levers;
  if (grid.policies[at.policy].implies) at.preempt = 0;
  colours();
  drawKeys();
  listen();
  choose();
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
      mustHave(root, ["policy", "checkpoint", "preempt", "defrag", "time"]); // says more than an error about null
    }
    root.dataset.ready = "yes";
  }).catch((err) => excuse(root, err, "The levers"));
}
