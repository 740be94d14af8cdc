// Draws the charts of views with ECharts, which widgets.Init has brought. Until it is there, and for ever where it is not, the static
// picture stays.
function drawChart(root) {
  const box = document.createElement("div"), option = JSON.parse(root.querySelector("[data-fleet=option]").textContent);
  const still = root.querySelector(".fleet-static"), more = document.createElement("details"), head = document.createElement("summary");
  box.dataset.fleet = "chart";
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", root.querySelector("img").alt);
  head.textContent = "Picture and table";
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
        root.dataset.error = String(err);
      }
    } else if (++tries < 100) setTimeout(wait, 150);
    else root.dataset.ready = "static";
  };
  wait();
}
