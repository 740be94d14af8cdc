// Draws the charts of views with ECharts, which widgets.Init has brought. Until it is there, and for ever where it is not, the static
// picture stays.
function drawChart(root) {
  const box = document.createElement("div"), option = JSON.parse(root.querySelector("[data-fleet=option]").textContent);
  const still = root.querySelector(".fleet-static"), more = document.createElement("details"), head = document.createElement("summary");
  box.dataset.fleet = "chart";
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", root.querySelector("img").alt);
  head.textContent = still.querySelector("table") ? "Picture and table" : "Picture";
  more.append(head);
  root.insertBefore(box, still);
  root.insertBefore(more, still);
  more.append(still);
  const probe = document.createElement("span");
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
  key.hidden = false;
  for (const b of key.querySelectorAll("button")) b.addEventListener("click", () => {
    const on = b.getAttribute("aria-pressed") !== "true";
    b.setAttribute("aria-pressed", on);
    chart.dispatchAction({ type: on ? "legendSelect" : "legendUnSelect", name: b.dataset.line });
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
  paint();
  new ResizeObserver(() => chart.resize()).observe(box);
  const themes = new MutationObserver(paint);
  for (const el of [document.documentElement, document.body]) if (el) themes.observe(el, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
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
        root.dataset.ready = "failed";
        for (const el of root.querySelectorAll("details")) el.open = true; // the picture must not stay folded away
        root.dataset.error = String(err);
      }
    } else if (++tries < 100) setTimeout(wait, 150);
    else root.dataset.ready = "static";
  };
  wait();
}
