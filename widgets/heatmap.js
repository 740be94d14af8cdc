// The heatmap: where the nodes stand, how a GPU looks, and a canvas that draws again only what has changed. Frames and marks lie on a
// second canvas over it, so that playing a run redraws a few hundred cells and not sixteen thousand.

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
  const space = row > 2 * dpr ? Math.max(1, Math.round(dpr * 0.9)) : 1;
  return { x, y, pitch, row, high, label, labels, width, w: pitch - space, h: row - space, height: top + high + edge, dpr };
}

// drawCell draws a GPU: solid for working, a rim around white for idle, crossed out for failed, striped for stranded.
function drawCell(g, ink, state, x, y, w, h) {
  if (state === WORKING) {
    g.fillStyle = ink.working;
    g.fillRect(x, y, w, h);
    return;
  }
  const rim = Math.max(1, Math.round(Math.min(w, h) / 5));
  g.fillStyle = [ink.rim, "", ink.failedRim, ink.stripe][state];
  g.fillRect(x, y, w, h);
  g.fillStyle = [ink.idle, "", ink.failed, ink.stranded][state];
  g.fillRect(x + rim, y + rim, w - 2 * rim, h - 2 * rim);
  if (state !== FAILED && state !== STRANDED) return;
  g.strokeStyle = state === FAILED ? "#fff" : ink.stripe;
  g.lineWidth = Math.max(1, w / 6);
  g.beginPath();
  g.moveTo(x + w - 0.5, y + 0.5);
  g.lineTo(x + 0.5, y + h - 0.5);
  if (state === FAILED) {
    g.moveTo(x + 0.5, y + 0.5);
    g.lineTo(x + w - 0.5, y + h - 0.5);
  }
  g.stroke();
}

// frames draws a line around a list of nodes: once for each stretch of neighbours in a line of the map.
function frames(g, map, nodes, colour, dash, width) {
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.setLineDash(dash);
  for (let a = 0; a < nodes.length;) {
    let b = a;
    while (b + 1 < nodes.length && nodes[b + 1] === nodes[b] + 1 && map.y[nodes[b + 1]] === map.y[nodes[a]]) b++;
    const o = width / 2, x = map.x[nodes[a]];
    g.strokeRect(x - o - 0.5, map.y[nodes[a]] - o - 0.5, map.x[nodes[b]] + map.pitch - x + width, map.high + width);
    a = b + 1;
  }
  g.setLineDash([]);
}

// span is the numbers from a up to, and without, b.
function span(a, b) { return Array.from({ length: Math.max(0, b - a) }, (_, i) => a + i); }

function size(canvas, width, height, dpr) {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  canvas.style.height = height / dpr + "px";
}

// heatmap draws states of GPUs on one canvas and marks on another.
function heatmap(canvas, over, topo) {
  const per = topo.gpus, g = canvas.getContext("2d"), top = over.getContext("2d");
  let layout = null, drawn = null;

  // stamps holds each look of a cell, and of a node whose GPUs are all alike: copying a picture is faster than drawing it, and one for a
  // node faster than eight.
  let stamps = null, columns = null;
  function cut(ink) {
    const paper = (height) => Object.assign(document.createElement("canvas"), { width: Math.max(1, layout.w), height: Math.max(1, height) });
    const states = [IDLE, WORKING, FAILED, STRANDED];
    stamps = states.map((state) => {
      const c = paper(layout.h);
      drawCell(c.getContext("2d"), ink, state, 0, 0, layout.w, layout.h);
      return c;
    });
    columns = states.map((state) => {
      const c = paper(layout.high), g = c.getContext("2d");
      for (let k = 0; k < per; k++) g.drawImage(stamps[state], 0, k * layout.row);
      return c;
    });
  }

  // fit makes the layout anew if the size has changed, or if all is to be drawn anew; false if there is no room at all.
  function fit(ink, anew) {
    if (layout && !anew) return true; // to ask for the width costs a layout of the whole cockpit; when it changes, all is drawn anew
    if (!canvas.clientWidth) return false;
    const dpr = window.devicePixelRatio || 1, width = Math.round(canvas.clientWidth * dpr);
    layout = mapLayout(topo, width, dpr);
    size(canvas, width, layout.height, dpr);
    size(over, width, layout.height, dpr);
    cut(ink);
    g.clearRect(0, 0, width, layout.height);
    g.fillStyle = ink.dim;
    g.font = Math.round(11 * dpr) + "px system-ui, sans-serif";
    g.textBaseline = "top";
    for (const [pod, y] of layout.labels) g.fillText(pod, Math.round(6 * dpr), y);
    drawn = new Uint8Array(topo.nodes * per).fill(255);
    return true;
  }

  // draw brings the cells up to date; it returns how many it had to draw.
  function draw(state, ink, anew) {
    if (!fit(ink, anew)) return 0;
    let cells = 0;
    for (let n = 0; n < topo.nodes; n++) {
      const from = n * per;
      let changed = 0, alike = true;
      for (let i = from; i < from + per; i++) {
        changed += drawn[i] !== state[i];
        alike = alike && state[i] === state[from];
      }
      if (!changed) continue;
      cells += changed;
      if (alike) g.drawImage(columns[state[from]], layout.x[n], layout.y[n]);
      else for (let k = 0; k < per; k++) if (drawn[from + k] !== state[from + k]) g.drawImage(stamps[state[from + k]], layout.x[n], layout.y[n] + k * layout.row);
    }
    drawn.set(state);
    return cells;
  }

  function cell(gpu) {
    const n = Math.floor(gpu / per);
    return [layout.x[n], layout.y[n] + gpu % per * layout.row, layout.w, layout.h];
  }

  // marks clears the upper canvas and lets paint draw on it.
  function marks(paint) {
    if (!layout) return;
    top.clearRect(0, 0, over.width, over.height);
    paint(top, layout, Math.max(2, Math.round(2 * layout.dpr)));
  }

  function gpuAt(ev) {
    if (!layout) return -1;
    const box = canvas.getBoundingClientRect(), k = canvas.width / canvas.clientWidth;
    const px = (ev.clientX - box.left - canvas.clientLeft) * k, py = (ev.clientY - box.top - canvas.clientTop) * k;
    for (let n = 0; n < topo.nodes; n++) {
      const dx = px - layout.x[n], dy = py - layout.y[n];
      if (dx >= 0 && dx < layout.pitch && dy >= 0 && dy < layout.high) return n * per + Math.floor(dy / layout.row);
    }
    return -1;
  }

  return { draw, marks, cell, gpuAt };
}
