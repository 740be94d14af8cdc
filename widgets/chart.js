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
  let chart = null;
  const paint = () => {
    const axis = { axisLine: { lineStyle: { color: colour("edge") } }, axisLabel: { color: colour("dim") }, nameTextStyle: { color: colour("dim") },
      splitLine: { lineStyle: { color: colour("line") } } };
    chart = chart || echarts.init(box, null, { renderer: "svg" });
    chart.setOption(option);
    chart.setOption({
      animation: false, color: root.dataset.colours.split(" ").map(colour), legend: { itemStyle: { opacity: 0 }, textStyle: { color: colour("text") } },
      xAxis: option.xAxis.map(() => axis), yAxis: option.yAxis.map(() => axis),
      tooltip: { backgroundColor: colour("panel"), borderColor: colour("edge"), textStyle: { color: colour("text") } },
    });
  };
  const redraw = () => {
    if (!box.clientWidth) return;
    if (chart && !matchMedia("print").matches) chart.resize(); // on paper the drawing is scaled as it is
    paint();
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
  putAway(root);
  follow(root, box, redraw, () => { chart = chart?.dispose(); }); // ECharts keeps all that is not given back
}

// putAway lays the static picture and table, which the chart replaces, behind a line to open.
function putAway(root) {
  const still = root.querySelector(".fleet-static"), more = document.createElement("details"), head = document.createElement("summary");
  head.textContent = "Picture and table";
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
