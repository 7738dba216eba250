// Draws the plots of a chain's page with uPlot, from the history API. Lines differ in dashes as well as in colour. Times are in
// UTC, as everywhere on the page. All plots show the same range and zoom, which are in the URL.
/**
 * @typedef {readonly (number | null)[]} Values
 * @typedef {{ variant: string, tier: string, block_number: Values, lag_seconds: Values, against: string | null,
 *   gap_blocks: Values, gap_uncertainty_blocks: Values }} Target
 * @typedef {{ timestamps: readonly number[], reference_block_number: Values, targets: readonly Target[] }} History
 * @typedef {{ name: string, index: number, values: Values, band?: Values }} Line
 * @typedef {{ title: string, say: (value: number | null) => string, floor?: number, lines: Line[] }} Plot
 * @typedef {{ shape: string, charts: uPlot[] }} Drawn
 */

const RANGES = [1, 6, 24];
const USUAL_RANGE = 6;
/** This number of plots fits side by side. Further plots of a protocol are folded. */
const UNFOLDED = matchMedia("(max-width: 34rem)").matches ? 1 : 2;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const MARKS = ["solid", "dashed", "dotted", "double"];
const HEIGHT = 170;
/** The steps of an axis of durations, in seconds. `duration` writes each of them without rounding. */
const TIME_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600].concat(
  [2, 4, 8, 24, 48, 120, 240, 480, 1200, 2400, 4800, 12_000, 24_000, 48_000].map((length) => length * 3600),
);
const INTERVAL_MS = 15_000;
const TIMEOUT_MS = 4_000;
const localTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

const boxes = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".plots")]);
/** @type {Map<HTMLElement, Drawn>} */
const drawn = new Map();
const asked = new URLSearchParams(location.search);
let zoom = zoomOf(Date.parse(asked.get("from") ?? "") / 1000, Date.parse(asked.get("to") ?? "") / 1000);
let hours = RANGES.find((range) => String(range) === asked.get("hours")) ?? (zoom === null ? USUAL_RANGE : 0);

/**
 * @param {number} min
 * @param {number} max
 */
function zoomOf(min, max) {
  return min < max && hoursSince(min) <= Math.max(...RANGES) ? { min, max } : null;
}

/** Chooses a range that contains the zoom, and drops a zoom that has become too old for every range. */
function coverZoom() {
  zoom = zoom && zoomOf(zoom.min, zoom.max);
  const from = zoom?.min ?? Date.now() / 1000;
  hours = RANGES.find((range) => range >= hours && hoursSince(from) <= range) ?? USUAL_RANGE;
}

/** @param {number} seconds */
function hoursSince(seconds) {
  return (Date.now() / 1000 - seconds) / 3600;
}

/** Puts the range and the zoom into the URL, unless they are the default. */
function nameInUrl() {
  const url = new URL(location.href);
  const iso = (/** @type {number | undefined} */ seconds) =>
    seconds === undefined ? null : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  const shown = {
    hours: hours === USUAL_RANGE && zoom === null ? null : String(hours),
    from: iso(zoom?.min),
    to: iso(zoom?.max),
  };
  for (const [name, value] of Object.entries(shown)) {
    if (value === null) {
      url.searchParams.delete(name);
    } else {
      url.searchParams.set(name, value);
    }
  }
  if (url.href !== location.href) {
    history.replaceState(null, "", url);
  }
}

/**
 * Called when a plot has a new range of time: the range of all its data, or of the user's selection.
 * @param {uPlot} plot
 * @param {string} axis
 */
function rememberZoom(plot, axis) {
  const { min = 0, max = 0 } = plot.scales["x"] ?? {};
  const [first = 0, last = 0] = [plot.data[0][0], plot.data[0].at(-1)];
  if (axis === "x") {
    zoom = min <= first && max >= last ? null : zoomOf(min, max);
    nameInUrl();
  }
}

const probe = document.body.appendChild(document.createElement("span"));

/**
 * A colour of the style sheet in the current theme, in a form that a canvas accepts.
 * @param {string} name
 */
function css(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** @param {number} index */
function colour(index) {
  return css(`--line${1 + (index % 4)}`);
}

/**
 * Which pattern of dashes a line has. Lines of the same colour have different patterns, so the first sixteen lines differ.
 * @param {number} index
 */
function dashes(index) {
  return (index + Math.floor(index / 4)) % 4;
}

/**
 * @param {number} seconds
 * @param {number} end 16: the time ends with its minutes; 19: with its seconds
 */
function clock(seconds, end) {
  return new Date(seconds * 1000).toISOString().slice(11, end);
}

/**
 * The date of a time, unless it is today: without a date, a time of yesterday would look like a time later today.
 * @param {number} seconds
 */
function otherDay(seconds) {
  const [day, today] = [seconds * 1000, Date.now()].map((ms) => new Date(ms).toISOString().slice(0, 10));
  return day === today ? "" : `${day} `;
}

/** @param {number | null} seconds */
function duration(seconds) {
  if (seconds === null) {
    return "unknown";
  }
  if (seconds < 120) {
    return `${Math.round(seconds * 10) / 10} s`;
  }
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`;
}

/** @param {number | null} value */
function blocks(value) {
  return value === null
    ? "unknown"
    : `${(Math.round(value * 10) / 10).toLocaleString("en")} block${Math.abs(value) === 1 ? "" : "s"}`;
}

/** @param {number | null} value */
function height(value) {
  return value === null ? "unknown" : Math.round(value).toLocaleString("en");
}

/** @param {Target} target */
function nameOf({ variant, tier }) {
  return tier === "production" ? variant : `${variant} (${tier})`;
}

/**
 * @param {number | null | undefined} a
 * @param {number | null | undefined} b
 */
function minus(a, b) {
  return a == null || b == null ? null : a - b;
}

/**
 * @param {History} history
 * @returns {Plot[]}
 */
function plotsOf({ timestamps, reference_block_number: reference, targets }) {
  const all = targets.map((target, index) => ({ ...target, name: nameOf(target), index }));
  const compared = all.filter(({ against }) => against !== null);
  const pace = reference.map((block, i) => {
    const grown = minus(block, reference[i - 1]);
    const seconds = minus(timestamps[i], timestamps[i - 1]);
    return grown === null || seconds === null ? null : (grown / seconds) * 60;
  });
  /** @type {Plot[]} */
  const plots = [
    {
      title: "Time behind the head",
      say: duration,
      floor: 0,
      lines: all.map(({ name, index, lag_seconds: values }) => ({ name, index, values })),
    },
    {
      title: `Blocks behind ${compared[0]?.against ?? ""} at the same instant, ± uncertainty`,
      say: blocks,
      lines: compared.map(({ name, index, gap_blocks: values, gap_uncertainty_blocks: band }) => ({
        name,
        index,
        values,
        band,
      })),
    },
    {
      title: "Block heights",
      say: height,
      lines: [
        ...all.map(({ name, index, block_number: values }) => ({ name, index, values })),
        { name: "reference", index: Math.max(3, all.length), values: reference },
      ],
    },
    {
      title: "Blocks per minute of the reference head",
      say: blocks,
      floor: 0,
      lines: [{ name: "reference", index: 3, values: pace }],
    },
  ];
  return plots.filter(({ lines }) => lines.some(({ values }) => values.some((value) => value !== null)));
}

/** @param {Plot} plot */
function seriesOf({ lines, say }) {
  /** @type {(uPlot.Series & { mark?: string })[]} */
  const series = [
    {
      value: (_, /** @type {number | null} */ seconds) =>
        seconds === null
          ? ""
          : `${otherDay(seconds)}${clock(seconds, 19)} UTC (${localTime.format(seconds * 1000)} here)`,
    },
  ];
  /** @type {(number | null)[][]} */
  const data = [];
  /** @type {uPlot.Band[]} */
  const bands = [];
  for (const { name, index, values, band } of lines) {
    series.push({
      label: name,
      value: (_, value) => say(value),
      stroke: colour(index),
      width: 1.5,
      dash: DASHES[dashes(index)] ?? [],
      mark: MARKS[dashes(index)] ?? "solid",
      spanGaps: false,
      points: { filter: (plot, i, isShown) => (isShown ? null : isolatedPoints(plot.data[i] ?? [])) },
    });
    data.push([...values]);
    if (band !== undefined) {
      const edge = { class: "band", label: "", width: 0, points: { show: false } };
      bands.push({ series: [series.length, series.length + 1], fill: colour(index).replace(")", ", 0.2)") });
      series.push(edge, edge);
      data.push(
        values.map((value, i) => (value === null ? null : value + (band[i] ?? 0))),
        values.map((value, i) => (value === null ? null : value - (band[i] ?? 0))),
      );
    }
  }
  return { series, data, bands };
}

/**
 * @param {Element | null | undefined} area
 * @param {Plot} plot
 * @param {readonly number[]} times
 */
function chart(area, plot, times) {
  const { title, say, floor } = plot;
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  figure.append(caption);
  area?.append(figure);
  const { series, data, bands } = seriesOf(plot);
  const rule = { stroke: css("--line"), width: 1 };
  const axis = { stroke: css("--dim"), grid: rule, ticks: rule, font: "12px system-ui, sans-serif" };
  const made = new uPlot(
    {
      width: figure.clientWidth,
      height: HEIGHT,
      series,
      bands,
      padding: [8, 28, 0, 0],
      legend: { markers: { dash: (_, index) => series[index]?.mark ?? "solid" } },
      hooks: { setCursor: [showLatestWithoutCursor], setScale: [rememberZoom] },
      cursor: { sync: { key: "plots" }, y: false, drag: { x: true, y: false } },
      scales: {
        x: { range: (_, low, high) => timeRange(low, high) },
        y: { range: (_, low, high) => rangeOf(floor, low, high) },
      },
      axes: [
        {
          ...axis,
          space: 60,
          values: (_, splits, __, ___, step) => splits.map((seconds) => clock(seconds, step < 60 ? 19 : 16)),
        },
        {
          ...axis,
          // uPlot calls this once before there are texts.
          size: ({ ctx }, /** @type {readonly string[] | null} */ values) => {
            ctx.font = axis.font;
            return Math.max(62, ...(values ?? []).map((text) => ctx.measureText(text).width + 16));
          },
          ...(say === duration && { incrs: TIME_STEPS }),
          values: (_, splits) =>
            splits.map((value) => (say === duration ? duration(value) : value.toLocaleString("en"))),
        },
      ],
    },
    /** @type {uPlot.AlignedData} */ ([[...times], ...data]),
    figure,
  );
  showLatestWithoutCursor(made);
  if (zoom !== null) {
    made.setScale("x", zoom);
  }
  const canvas = made.root.querySelector("canvas");
  canvas?.setAttribute("role", "img");
  canvas?.setAttribute("aria-label", `${title}, last ${hours} hours`);
  return made;
}

/**
 * The values without a line to a neighbour, which are drawn as points.
 * @param {ArrayLike<number | null | undefined>} values
 */
function isolatedPoints(values) {
  return Array.from(values, (_, i) => i).filter(
    (i) => values[i] != null && values[i - 1] == null && values[i + 1] == null,
  );
}

/** @param {uPlot} plot */
function showLatestWithoutCursor(plot) {
  if ((plot.cursor.left ?? -1) < 0) {
    // The minute that has just begun has no values yet.
    const [times, ...lines] = plot.data;
    const known = times.findLastIndex((_, i) => lines.some((values) => values[i] != null));
    plot.setLegend({ idx: known < 0 ? times.length - 1 : known });
  }
}

/**
 * @param {number} low
 * @param {number} high
 * @returns {uPlot.Range.MinMax}
 */
function timeRange(low, high) {
  // For a single value, uPlot proposes a range of a thousand days after it.
  const end = high - low > 2 * 86_400 ? low : high;
  return [Math.min(low, end - 60), end];
}

/**
 * @param {number | undefined} floor
 * @param {number} low
 * @param {number} high
 * @returns {uPlot.Range.MinMax}
 */
function rangeOf(floor, low, high) {
  const from = floor ?? low;
  const [least, most] = uPlot.rangeNum(from, Math.max(high, from + 1), 0.1, true);
  return [floor ?? least, most];
}

/**
 * @param {HTMLElement} box
 * @param {History} history
 */
function draw(box, history) {
  const [first, more] = box.querySelectorAll(".drawn");
  const fold = box.querySelector("details");
  const all = plotsOf(history);
  const plots = fold?.open === true ? all : all.slice(0, UNFOLDED);
  const shape = JSON.stringify(plots.map(({ title, lines }) => [title, lines.map(({ name }) => name)]));
  const previous = drawn.get(box);
  box.hidden = plots.length === 0;
  fold?.toggleAttribute("hidden", all.length <= UNFOLDED);
  if (previous?.shape === shape) {
    for (const [i, plot] of plots.entries()) {
      const one = previous.charts[i];
      one?.setData(
        /** @type {uPlot.AlignedData} */ ([[...history.timestamps], ...seriesOf(plot).data]),
        zoom === null,
      );
      if (zoom !== null) {
        one?.setScale("x", zoom);
      }
      if (one !== undefined) {
        showLatestWithoutCursor(one);
      }
    }
    return;
  }
  for (const one of previous?.charts ?? []) {
    one.destroy();
  }
  first?.replaceChildren();
  more?.replaceChildren();
  const charts = plots.map((plot, i) => chart(i < UNFOLDED ? first : more, plot, history.timestamps));
  drawn.set(box, { shape, charts });
}

/** @param {HTMLElement} box */
async function load(box) {
  // A folded plot has no width to draw in.
  if (box.closest("details:not([open])") !== null) {
    return;
  }
  try {
    const wanted = hours;
    const url = `${box.dataset["history"]}?points=240&hours=${wanted}`;
    const reply = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const history = /** @type {History} */ (await reply.json());
    if (reply.ok && wanted === hours) {
      draw(box, history);
    }
  } catch {
    // The page itself says when Synclag does not respond.
  }
}

function showAll() {
  coverZoom();
  for (const box of boxes) {
    for (const button of box.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.value === String(hours)));
    }
    void load(box);
  }
}

function drawingArea() {
  const area = document.createElement("div");
  area.className = "drawn";
  return area;
}

for (const box of boxes) {
  const bar = document.createElement("p");
  bar.className = "ranges";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Time range");
  for (const range of RANGES) {
    const button = document.createElement("button");
    button.type = "button";
    button.value = String(range);
    button.textContent = `${range} h`;
    button.addEventListener("click", () => {
      hours = range;
      zoom = null;
      nameInUrl();
      showAll();
    });
    bar.append(button);
  }
  const fold = document.createElement("details");
  fold.append(document.createElement("summary"), drawingArea());
  fold.firstElementChild?.append("More plots");
  box.append(bar, drawingArea(), fold);
  new ResizeObserver(() => {
    for (const one of drawn.get(box)?.charts ?? []) {
      one.setSize({ width: one.root.parentElement?.clientWidth ?? 0, height: HEIGHT });
    }
  }).observe(box);
}
showAll();

/** @param {Event} event */
function loadUnfolded({ target }) {
  for (const box of boxes) {
    if (target instanceof Element && (target.contains(box) || box.contains(target))) {
      void load(box);
    }
  }
}

// The event `toggle` does not bubble, so the listener captures it.
document.addEventListener("toggle", loadUnfolded, true);

function redraw() {
  for (const [box, { charts }] of drawn) {
    for (const one of charts) {
      one.destroy();
    }
    drawn.delete(box);
    void load(box);
  }
}

document.addEventListener("theme", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
setInterval(() => {
  if (!document.hidden) {
    showAll();
  }
}, INTERVAL_MS);
