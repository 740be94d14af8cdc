// Unpacks the runs of a lever grid: the twin of codec.go, which explains the format. Both make the same guesses in the same order, so
// they must change together. Times are in milliseconds since the start of the run.

const COLS = 10, JOB = 0, START = 1, AT = 2, NODE = 3, NODES = 4, MASK = 5, END = 6, UNTIL = 7, BUSY = 8, SET = 9;
const FIRST_FIT = 0, BEST_FIT = 1, WORST_FIT = 2; // and 3, the last node with room
const EXPLICIT = 64, DONE = 0, HORIZON = 4;

// reader takes varints off bytes. Arithmetic instead of shifts: times can need more than 32 bits.
function reader(bytes, at) {
  return {
    at,
    byte() { return bytes[this.at++]; },
    uint() {
      let v = 0, m = 1, b;
      do {
        b = bytes[this.at++];
        v += (b & 127) * m;
        m *= 128;
      } while (b > 127);
      return v;
    },
  };
}

function unzigzag(v) { return v % 2 ? -(v + 1) / 2 : v / 2; }

function unpackJobs(bytes, at) {
  const r = reader(bytes, at), n = r.uint();
  const col = (f) => { const a = new Float64Array(n); for (let i = 0; i < n; i++) a[i] = f(i, a); return a; };
  return {
    n,
    id: col((i, a) => (i ? a[i - 1] : 0) + unzigzag(r.uint())),
    arrival: col((i, a) => (i ? a[i - 1] : 0) + r.uint()),
    gpus: col(() => r.uint()),
    work: col(() => r.uint()),
    write: col(() => r.uint()),
    phase: col(() => r.uint()),
  };
}

// column yields the numbers of one column, zeros for ever once its data are used up.
function column(bytes, at, end) {
  const r = reader(bytes, at);
  let zeros = 0, value = 0, open = false;
  return () => {
    if (!open && r.at < end) {
      zeros = r.uint();
      value = r.uint();
      open = true;
    }
    if (!open || zeros > 0) {
      zeros--;
      return 0;
    }
    open = false;
    return value;
  };
}

// unpackRun replays the guesser over the corrections. s holds what codec.go's guesser gets from the run: tau, pauses, outages.
function unpackRun(bytes, at, topo, jobs, horizon, s) {
  const r = reader(bytes, at), fit = r.byte(), n = r.uint(), cols = [];
  for (let c = 0; c < COLS; c++) {
    const len = r.uint();
    cols.push(column(bytes, r.at, r.at + len));
    r.at += len;
  }
  const run = {
    n, job: new Int32Array(n), node: new Int32Array(n), nodes: new Int32Array(n), mask: new Uint16Array(n),
    start: new Float64Array(n), end: new Float64Array(n), reason: new Uint8Array(n), busy: new Int32Array(n), set: new Array(n),
  };
  const lists = new Map(); // by job: its last list of nodes that are not consecutive
  const g = guesser(topo, s.outages, run);
  const next = new Int32Array(jobs.n + 1).map((_, i) => i); // by job: itself if it was never placed, else a later one
  let cursor = -1, prev = 0, until = 0;
  for (let i = 0; i < n; i++) {
    let job = cursor + 1;
    while (next[job] !== job) job = next[job] = next[next[job]];
    const jc = cols[JOB]();
    if (jc) job += unzigzag(jc - 1);
    if (next[job] === job) {
      next[job] = job + 1;
      cursor = job;
    }
    const sc = cols[START]();
    let start = prev;
    if (sc === 0) start = jobs.arrival[job];
    else if (sc === EXPLICIT) start = prev + unzigzag(cols[AT]());
    else if (sc > 1) start = g.skip(prev, sc - 1);
    g.releaseUpTo(start);
    g.flipUpTo(start);
    prev = start;

    const gpus = jobs.gpus[job], guessed = Math.ceil(gpus / topo.gpus);
    const nc = cols[NODE](), node = nc ? nc - 1 : guessed > 1 ? g.firstRun(guessed) : g.fit(fit, gpus);
    const kc = cols[NODES](), nodes = kc ? kc - 1 : guessed;
    const mc = cols[MASK](), mask = mc ? mc - 1 : g.mask(node, nodes, gpus);
    const bc = cols[BUSY](), busy = bc ? bc - 1 : Math.min(nodes * bitCount(mask), gpus);
    const set = setOf(cols[SET], lists.get(job));
    if (set) lists.set(job, set);
    const ec = cols[END]();
    let end, reason;
    if (ec) {
      reason = ec - 1;
      end = until += unzigzag(cols[UNTIL]());
    } else {
      end = endOf(start, jobs.work[job], jobs.write[job], jobs.phase[job], s);
      reason = DONE;
      if (end > horizon) {
        end = horizon;
        reason = HORIZON;
      }
    }
    run.job[i] = job; run.node[i] = node; run.nodes[i] = nodes; run.mask[i] = mask;
    run.start[i] = start; run.end[i] = end; run.reason[i] = reason; run.busy[i] = busy; run.set[i] = set;
    g.place(i);
  }
  return run;
}

// setOf is the list of a span's nodes, or null if they are consecutive. old is the job's list before that.
function setOf(next, old) {
  const runs = [], ends = [0, 0];
  let total = 0;
  for (let n = next(); n > 0; n--) {
    const v = next(), kind = v % 2, from = ends[kind] + unzigzag(next()), count = (v - kind) / 2;
    ends[kind] = from + count;
    total += count;
    runs.push(kind, from, count);
  }
  if (!total) return null;
  const list = new Int32Array(total);
  for (let r = 0, at = 0; r < runs.length; r += 3) {
    const [kind, from, count] = [runs[r], runs[r + 1], runs[r + 2]];
    if (kind) list.set(old.subarray(from, from + count), at);
    else for (let i = 0; i < count; i++) list[at + i] = from + i;
    at += count;
  }
  return list;
}

// eachNode calls f with each node of span i, in order, and its position.
function eachNode(run, i, f) {
  const set = run.set[i], from = run.node[i], count = set ? set.length : run.nodes[i];
  for (let k = 0; k < count; k++) f(set ? set[k] : from + k, k);
}

// holds tells whether span i is on a node.
function holds(run, i, node) {
  return run.set[i] ? run.set[i].includes(node) : node >= run.node[i] && node < run.node[i] + run.nodes[i];
}

// endOf is when an attempt from the beginning ends if nothing happens but the pauses.
function endOf(start, work, write, phase, s) {
  let t = start + work + Math.floor((Math.floor(s.tau * phase / 1000) + work - 1) / s.tau) * write;
  for (const [from, to] of s.pauses) if (to > start && t > from) t += to - Math.max(from, start);
  return t;
}

// The number of bits of each mask of a node, which has at most 16 GPUs.
const BITS = new Uint8Array(1 << 16);
for (let i = 1; i < BITS.length; i++) BITS[i] = BITS[i >> 1] + (i & 1);

function bitCount(mask) { return BITS[mask]; }

// guesser replays the occupation of the fleet.
function guesser(topo, outages, run) {
  const nodes = topo.nodes, words = (nodes + 31) >>> 5, full = (1 << topo.gpus) - 1;
  const used = new Uint16Array(nodes), down = new Uint8Array(nodes), byFree = [];
  for (let k = 0; k <= topo.gpus; k++) byFree.push(new Uint32Array(words));
  for (let n = 0; n < nodes; n++) byFree[topo.gpus][n >>> 5] |= 1 << (n & 31);
  const flips = [...outages.map(([n, a]) => [a, n, 1]), ...outages.map(([n, , b]) => [b, n, -1])].sort((a, b) => a[0] - b[0]);
  let flipped = 0;

  const file = (n, on) => {
    if (down[n]) return;
    const list = byFree[bitCount(full & ~used[n])];
    if (on) list[n >>> 5] |= 1 << (n & 31);
    else list[n >>> 5] &= ~(1 << (n & 31));
  };
  const set = (n, mask) => {
    const was = BITS[full & ~used[n]], is = BITS[full & ~mask];
    used[n] = mask;
    if (was === is || down[n]) return;
    byFree[was][n >>> 5] &= ~(1 << (n & 31));
    byFree[is][n >>> 5] |= 1 << (n & 31);
  };
  // first and last are the lowest and the highest node in any of these lists.
  const first = (lists) => {
    for (let w = 0; w < words; w++) {
      let any = 0;
      for (const list of lists) any |= list[w];
      if (any) return w * 32 + 31 - Math.clz32(any & -any);
    }
    return -1;
  };
  const last = (lists) => {
    for (let w = words - 1; w >= 0; w--) {
      let any = 0;
      for (const list of lists) any |= list[w];
      if (any) return w * 32 + 31 - Math.clz32(any);
    }
    return -1;
  };

  const heap = [], end = run.end; // spans that run, by their end
  const pop = () => {
    const top = heap[0], last = heap.pop(), n = heap.length;
    for (let i = 0; n;) {
      let c = 2 * i + 1;
      if (c + 1 < n && end[heap[c + 1]] < end[heap[c]]) c++;
      if (c >= n || end[last] <= end[heap[c]]) {
        heap[i] = last;
        break;
      }
      heap[i] = heap[c];
      i = c;
    }
    const keep = ~run.mask[top];
    eachNode(run, top, (k) => set(k, used[k] & keep));
  };

  return {
    skip(prev, count) { // the count-th distinct instant after prev at which a span ends
      let t = prev;
      while (count && heap.length) {
        if (end[heap[0]] > t) {
          t = end[heap[0]];
          count--;
        }
        if (count) pop();
      }
      return t;
    },
    releaseUpTo(t) { while (heap.length && end[heap[0]] <= t) pop(); },
    flipUpTo(t) {
      for (; flipped < flips.length && flips[flipped][0] <= t; flipped++) {
        const [, n, by] = flips[flipped];
        file(n, false);
        down[n] += by;
        file(n, true);
      }
    },
    fit(which, gpus) {
      let at = -1;
      if (which === BEST_FIT) {
        for (let k = gpus; k <= topo.gpus && at < 0; k++) at = first([byFree[k]]);
      } else if (which === WORST_FIT) {
        for (let k = topo.gpus; k >= gpus && at < 0; k--) at = first([byFree[k]]);
      } else {
        at = (which === FIRST_FIT ? first : last)(byFree.slice(gpus));
      }
      return at;
    },
    firstRun(need) {
      const list = byFree[topo.gpus];
      for (let n = 0, len = 0; n < nodes; n++) {
        len = list[n >>> 5] >>> (n & 31) & 1 ? len + 1 : 0;
        if (len === need) return n - need + 1;
      }
      return -1;
    },
    mask(n, count, gpus) {
      if (count > 1) return full;
      let free = full & ~used[n], m = 0;
      for (; gpus > 0 && free; gpus--) {
        m |= free & -free;
        free &= free - 1;
      }
      return m;
    },
    place(i) {
      const mask = run.mask[i];
      eachNode(run, i, (k) => set(k, used[k] | mask));
      let c = heap.push(i) - 1;
      for (; c && end[heap[(c - 1) >> 1]] > end[i]; c = (c - 1) >> 1) heap[c] = heap[(c - 1) >> 1];
      heap[c] = i;
    },
  };
}

const IDLE = 0, WORKING = 1, FAILED = 2, STRANDED = 3;

// snapshot is the fleet at t, GPU by GPU: what fleet's Run.At says. span is the span that holds a GPU, or -1.
function snapshot(topo, jobs, run, s, t) {
  const per = topo.gpus, total = topo.nodes * per;
  const state = new Uint8Array(total), span = new Int32Array(total).fill(-1), busy = new Uint8Array(topo.nodes), counts = [0, 0, 0, 0];
  let queued = 0;
  for (let j = 0; j < jobs.n && jobs.arrival[j] <= t; j++) queued++;
  for (const [, at] of s.gaveUp) if (at <= t) queued--;
  for (let i = 0; i < run.n && run.start[i] <= t; i++) {
    if (run.end[i] <= t) {
      if (run.reason[i] === DONE) queued--;
      continue;
    }
    queued--;
    let held = 0;
    eachNode(run, i, (n) => {
      busy[n] = 1;
      for (let k = 0; k < per; k++) {
        if (run.mask[i] >> k & 1) {
          state[n * per + k] = held++ < run.busy[i] ? WORKING : STRANDED;
          span[n * per + k] = i;
        }
      }
    });
  }
  for (const [n, from, to, mask] of s.outages) {
    if (from > t || to <= t) continue;
    busy[n] = 1;
    for (let k = 0; k < per; k++) if (mask >> k & 1) state[n * per + k] = FAILED;
  }
  for (let i = 0; i < total; i++) counts[state[i]]++;
  return { t, state, span, working: counts[WORKING], idle: counts[IDLE], failed: counts[FAILED], stranded: counts[STRANDED], queued, hole: longestRun(busy) };
}

// longestRun is the first of the longest runs of nodes that nobody uses.
function longestRun(busy) {
  let node = -1, len = 0;
  for (let n = 0, from = 0; n < busy.length; n++) {
    if (busy[n]) from = n + 1;
    else if (n + 1 - from > len) {
      len = n + 1 - from;
      node = from;
    }
  }
  return { node, len };
}

// profile samples the run at count instants for the strip over the scrubber: idle and stranded GPUs, and the largest hole. The instants
// are those at which something begins or ends, as far as they come after each other by more than a sample.
function profile(topo, run, s, horizon, count) {
  const events = []; // time, span or -1 - outage, +1 or -1
  for (let i = 0; i < run.n; i++) events.push([run.start[i], i, 1], [run.end[i], i, -1]);
  s.outages.forEach(([, from, to], o) => events.push([from, -1 - o, 1], [to, -1 - o, -1]));
  events.sort((a, b) => a[0] - b[0]);
  const busy = new Int32Array(topo.nodes), out = [], total = topo.nodes * topo.gpus;
  let held = 0, stranded = 0, failed = 0, e = 0;
  for (let i = 0; i <= count; i++) {
    const t = Math.min(horizon * i / count, horizon - 1);
    for (; e < events.length && events[e][0] <= t; e++) {
      const [, what, by] = events[e];
      if (what < 0) {
        const [n, , , mask] = s.outages[-1 - what];
        busy[n] += by;
        failed += by * bitCount(mask);
        continue;
      }
      const gpus = bitCount(run.mask[what]) * (run.set[what] ? run.set[what].length : run.nodes[what]);
      eachNode(run, what, (n) => { busy[n] += by; });
      held += by * gpus;
      stranded += by * (gpus - run.busy[what]);
    }
    out.push({ t, idle: total - held - failed, stranded, hole: longestRun(busy).len });
  }
  return out;
}
