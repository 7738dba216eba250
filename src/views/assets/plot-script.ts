/**
 * Draws the plots of a chain's page with uPlot, from the history API. Lines differ in dashes as well as in colour; times
 * are UTC, as everywhere on the page.
 */
export const PLOT_SCRIPT = `
(() => {
  const RANGES = [1, 6, 24];
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
  const MARKS = ["solid", "dashed", "dotted", "double"];
  const boxes = [...document.querySelectorAll(".plots")];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (index) => css("--line" + (1 + (index % 4)));
  const clock = (seconds, length) => new Date(seconds * 1000).toISOString().slice(11, length);

  function duration(seconds) {
    if (seconds === null) return "unknown";
    if (seconds < 120) return Math.round(seconds * 10) / 10 + " s";
    if (seconds < 7200) return Math.round(seconds / 60) + " min";
    return Math.round(seconds / 360) / 10 + " h";
  }
  const blocks = (value) => value === null ? "unknown" : (Math.round(value * 10) / 10).toLocaleString("en") + (Math.abs(value) === 1 ? " block" : " blocks");
  const height = (value) => value === null ? "unknown" : Math.round(value).toLocaleString("en");
  const name = (one) => one.tier === "production" ? one.variant : one.variant + " (" + one.tier + ")";
  const minus = (a, b) => a === null || b === null ? null : a - b;

  function plotsOf({ timestamps, reference_block_number: reference, targets }) {
    const pace = reference.map((block, i) => {
      const before = minus(block, reference[i - 1] ?? null);
      return before === null ? null : (before / (timestamps[i] - timestamps[i - 1])) * 60;
    });
    const compared = targets.map((one, index) => ({ ...one, index })).filter((one) => one.against !== null);
    return [
      { title: "Time behind the head", say: duration, floor: 0, lines: targets.map((one, index) => ({ name: name(one), index, values: one.lag_seconds })) },
      { title: "Blocks behind the reference head", say: blocks, floor: 0,
        lines: targets.map((one, index) => ({ name: name(one), index, values: one.block_number.map((block, i) => { const behind = minus(reference[i], block); return behind === null ? null : Math.max(0, behind); }) })) },
      { title: "Blocks behind " + (compared[0]?.against ?? "") + " at the same instant, ± uncertainty", say: blocks,
        lines: compared.map((one) => ({ name: name(one), index: one.index, values: one.gap_blocks, band: one.gap_uncertainty_blocks })) },
      { title: "Block heights", say: height, room: 84,
        lines: [...targets.map((one, index) => ({ name: name(one), index, values: one.block_number })), { name: "reference", index: 3, values: reference }] },
      { title: "Blocks per minute of the reference head", say: blocks, floor: 0, lines: [{ name: "reference", index: 3, values: pace }] },
    ].filter((plot) => plot.lines.some((line) => line.values.some((value) => value !== null)));
  }

  function seriesOf({ lines, say }) {
    const series = [{ value: (_, seconds) => seconds === null ? "" : clock(seconds, 19) + " UTC" }];
    const data = [];
    const bands = [];
    for (const { name: label, index, values, band } of lines) {
      series.push({ label, value: (_, value) => say(value), stroke: colour(index), width: 1.5, dash: DASHES[index % 4], mark: MARKS[index % 4], spanGaps: false });
      data.push(values);
      if (band === undefined) continue;
      const edge = { class: "band", label: "", width: 0, points: { show: false } };
      bands.push({ series: [series.length, series.length + 1], fill: colour(index) + "33" });
      series.push(edge, edge);
      data.push(values.map((value, i) => value === null ? null : value + band[i]), values.map((value, i) => value === null ? null : value - band[i]));
    }
    return { series, data, bands };
  }

  function chart(box, plot, times) {
    const figure = document.createElement("figure");
    const title = document.createElement("figcaption");
    title.textContent = plot.title;
    figure.append(title);
    box.querySelector(".drawn").append(figure);
    const { series, data, bands } = seriesOf(plot);
    const axis = { stroke: css("--dim"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const made = new uPlot({
      width: figure.clientWidth, height: 170, series, bands, padding: [8, 28, 0, 0],
      legend: { markers: { dash: (_, index) => series[index].mark ?? "solid" } },
      hooks: { setCursor: [(u) => { if (u.cursor.idx === null) u.setLegend({ idx: u.data[0].length - 1 }); }] },
      cursor: { sync: { key: box.id }, y: false, drag: { x: true, y: false } },
      scales: { y: { range: (_, low, high) => uPlot.rangeNum(plot.floor ?? low, Math.max(high, (plot.floor ?? low) + 1), 0.1, true).map((edge, i) => i === 0 ? plot.floor ?? edge : edge) } },
      axes: [{ ...axis, space: 60, values: (_, splits, __, ___, step) => splits.map((seconds) => clock(seconds, step < 60 ? 19 : 16)) },
        { ...axis, size: plot.room ?? 62, values: (_, splits) => splits.map((value) => plot.say === duration ? duration(value) : value.toLocaleString("en")) }],
    }, [times, ...data], figure);
    made.setLegend({ idx: times.length - 1 });
    made.root.querySelector("canvas").setAttribute("role", "img");
    made.root.querySelector("canvas").setAttribute("aria-label", plot.title + ", last " + box.dataset.hours + " hours");
    return made;
  }

  const drawn = new Map();
  function draw(box, history) {
    const plots = plotsOf(history);
    const shape = JSON.stringify(plots.map((plot) => [plot.title, plot.lines.map((line) => line.name)]));
    const previous = drawn.get(box);
    box.hidden = plots.length === 0;
    if (previous?.shape === shape) {
      previous.charts.forEach((one, i) => {
        one.setData([history.timestamps, ...seriesOf(plots[i]).data]);
        if (one.cursor.idx === null || one.cursor.left < 0) one.setLegend({ idx: history.timestamps.length - 1 });
      });
      return;
    }
    previous?.charts.forEach((one) => one.destroy());
    box.querySelector(".drawn").replaceChildren();
    drawn.set(box, { shape, charts: plots.map((plot) => chart(box, plot, history.timestamps)) });
  }

  async function load(box) {
    try {
      const answer = await fetch(box.dataset.history + "?points=240&hours=" + box.dataset.hours, { signal: AbortSignal.timeout(4000) });
      if (answer.ok) draw(box, await answer.json());
    } catch {
      // The page itself says when Synclag does not respond.
    }
  }

  function choose(box, hours) {
    box.dataset.hours = hours;
    for (const button of box.querySelectorAll("button")) button.setAttribute("aria-pressed", button.value === hours);
    load(box);
  }

  for (const box of boxes) {
    const bar = document.createElement("p");
    bar.className = "ranges";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Time range");
    for (const hours of RANGES) {
      const button = document.createElement("button");
      button.type = "button";
      button.value = hours;
      button.textContent = hours + " h";
      button.addEventListener("click", () => choose(box, button.value));
      bar.append(button);
    }
    const area = document.createElement("div");
    area.className = "drawn";
    box.append(bar, area);
    new ResizeObserver(() => drawn.get(box)?.charts.forEach((one) => one.setSize({ width: one.root.parentElement.clientWidth, height: 170 }))).observe(box);
    choose(box, "6");
  }
  const redraw = () => { for (const [box, { charts }] of drawn) { charts.forEach((one) => one.destroy()); drawn.delete(box); load(box); } };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  setInterval(() => { if (!document.hidden) boxes.forEach(load); }, 15000);
})();
`;
