// Draws the charts of views with ECharts, which widgets.Init has brought. Until it is there, and for ever where it is not, the static
// picture stays.
function drawChart(root) {
  const box = document.createElement("div"), option = JSON.parse(root.querySelector("[data-fleet=option]").textContent);
  box.dataset.fleet = "chart";
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", root.querySelector("img").alt);
  root.insertBefore(box, root.querySelector(".fleet-static"));
  const probe = document.createElement("span");
  probe.style.forcedColorAdjust = "none"; // high contrast would make all lines one colour
  root.append(probe);
  const colour = (name) => {
    probe.style.color = "var(--" + name + ")";
    return getComputedStyle(probe).color;
  };
  // Axes and tooltips are written as the text is: option JSON can hold no functions, so units and named ticks come beside it.
  const units = JSON.parse(root.dataset.units);
  const named = (axis, pairs) => {
    const ticks = pairs && new Map(pairs), at = pairs && [...ticks.keys()];
    return { ...axis, ...(at && { axisTick: { customValues: at } }),
      axisLabel: { ...axis.axisLabel, hideOverlap: true, ...(at && { customValues: at, formatter: (v) => ticks.get(v) || "" }) } };
  };
  const time = (v) => {
    const minutes = units.x === "hours" ? v * 60 : v, whole = Math.round(minutes);
    if (minutes < 10) return minutes < 1 ? (minutes * 60).toPrecision(2) + " s" : minutes.toFixed(1) + " min";
    return whole < 60 ? whole + " min" : Math.floor(whole / 60) + " h" + (whole % 60 ? " " + whole % 60 + " min" : "");
  };
  const value = (v) => units.y === "%" ? v.toFixed(1) + " %" : Math.round(v).toLocaleString("en");
  const tip = (list) => {
    const shown = list.filter((p, i) => typeof p.value[1] === "number" && list.findIndex((q) => q.seriesIndex === p.seriesIndex) === i); // a mark is two points
    return shown.length ? time(shown[0].value[0]) + shown.map((p) => "<br>" + p.marker + echarts.format.encodeHTML(p.seriesName) + (units.upright.includes(p.seriesIndex) ? "" : ": <b>" + value(p.value[1]) + "</b>")).join("") : "";
  };
  const key = root.querySelector(".fleet-key");
  const turn = (b) => chart?.dispatchAction({ type: b.getAttribute("aria-pressed") === "true" ? "legendSelect" : "legendUnSelect", name: b.dataset.line });
  for (const b of key.querySelectorAll("button")) b.addEventListener("click", () => {
    b.setAttribute("aria-pressed", b.getAttribute("aria-pressed") !== "true");
    turn(b);
  });
  let chart = null;
  const paint = () => {
    const axis = { axisLine: { lineStyle: { color: colour("edge") } }, axisLabel: { color: colour("dim") }, nameTextStyle: { color: colour("dim") },
      splitLine: { lineStyle: { color: colour("line") } } };
    chart = chart || echarts.init(box, null, { renderer: "svg" });
    chart.setOption(option);
    chart.setOption({
      animation: false, color: root.dataset.colours.split(" ").map(colour),
      xAxis: option.xAxis.map(() => named(axis, units.xTicks)), yAxis: option.yAxis.map((_, i) => named(axis, i ? null : units.yTicks)),
      tooltip: { formatter: tip, backgroundColor: colour("panel"), borderColor: colour("edge"), textStyle: { color: colour("text") } },
    });
  };
  const redraw = () => {
    if (!box.clientWidth) return;
    if (chart && !matchMedia("print").matches) chart.resize(); // on paper the drawing is scaled as it is
    paint();
    key.querySelectorAll("[aria-pressed=false]").forEach(turn); // a chart that was given back has forgotten them
    const svg = box.querySelector("svg");
    svg?.setAttribute("viewBox", "0 0 " + chart.getWidth() + " " + chart.getHeight());
  };
  try {
    paint();
  } catch (err) {
    box.remove();
    probe.remove();
    throw err;
  }
  key.hidden = false;
  putAway(root);
  follow(root, box, redraw, () => { chart = chart?.dispose(); }); // ECharts keeps all that is not given back
}

// putAway lays the static picture and table, which the chart replaces, behind a line to open.
function putAway(root) {
  const still = root.querySelector(".fleet-static"), more = document.createElement("details"), head = document.createElement("summary");
  head.textContent = still.querySelector("table") ? "Picture and table" : "Picture";
  root.insertBefore(more, still);
  more.append(head, still);
}

for (const root of document.querySelectorAll("[data-fleet-chart]:not([data-ready])")) {
  if (!root.querySelector("[data-fleet=option]")) continue;
  root.dataset.ready = "waiting";
  let tries = 0;
  const wait = () => {
    if (window.echarts) {
      root.dataset.ready = "yes";
      try {
        drawChart(root);
      } catch (err) {
        excuse(root, err, "The live chart");
      }
    } else if (++tries < 100) setTimeout(wait, 150);
    else root.dataset.ready = "static";
  };
  wait();
}
