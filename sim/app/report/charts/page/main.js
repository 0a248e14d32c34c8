import * as Plot from "@observablehq/plot";
import { sayAccuracy, sayBreakdown, sayCongestion, sayCrossover, sayLinks, sayMeasured, sayTime, sayVolume } from "./sentences.js";
import { accuracyPanels, bytes, densities, distinct, measuredPanels, percent, pointsOf, seconds, shownCurves, text, winners, words } from "./data.js";

const data = JSON.parse(document.getElementById("data").textContent);
const kColours = data.palette.series[0].length;
/** Polygons, about as large as a circle of radius 1, which is the one without corners. All of them are filled. */
const kSymbols = data.palette.symbols.map((corners) => ({ draw: (context, size) => {
  const radius = Math.sqrt(size / Math.PI);
  if (corners.length === 0) context.arc(0, 0, radius, 0, 2 * Math.PI);
  corners.forEach(([x, y], i) => i === 0 ? context.moveTo(x * radius, y * radius) : context.lineTo(x * radius, y * radius));
  context.closePath();
} }));
const kShapes = { type: "ordinal", domain: kSymbols.map((_, i) => i), range: kSymbols };
const colourOf = (index) => `var(--s${index % kColours})`;
const roundOf = (label) => Math.floor(label / kColours);
/** The dashes of a solid line: where colours come again, one dot between long dashes, then two. */
const dashesOf = (round) => round === 0 ? null : `9 2${" 1.5 2".repeat(round)}`;
/** A line for each series; a mark of Plot has one look for all of its lines. */
const solidLines = (rows, labelOf, options) => distinct(rows.map((row) => roundOf(labelOf(row)))).map((round) =>
  Plot.line(rows.filter((row) => roundOf(labelOf(row)) === round), { ...options, strokeDasharray: dashesOf(round) }));
const symbolOf = (label) => (label + roundOf(label)) % kSymbols.length;

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

const variables = (shade) => [["s", data.palette.series], ["p", data.palette.parts], ["u", data.palette.heat]].map(([name, colours]) =>
  colours[shade].map((colour, i) => `--${name}${i}:${colour};`).join("")).join("");
document.head.append(element("style", {}, `:root{${variables(0)}}@media screen and (prefers-color-scheme:dark){:root{${variables(1)}}}`));

// --- Filters

const used = (key) => distinct([...data.curves, ...data.troubles].map((c) => c[key]));
/** How much the curves shown first of a setting, and of a density, show: points, of several schemes before one. */
const extent = (setting, density) => {
  const mine = data.curves.filter((c) => data.leading.includes(c.label) && c.setting === setting && (c.density === density || c.density === null));
  return (distinct(mine.map((c) => c.label)).length > 1 ? 1e6 : 0) + mine.reduce((sum, c) => sum + c.points.length, 0);
};
const largestOf = (all, size) => all.reduce((most, one) => most === null || size(one) > size(most) ? one : most, null);
const most = (setting) => Math.max(...densities(data, setting).map((density) => extent(setting, density)));
const filters = { setting: largestOf(used("setting"), most) ?? 0, density: null, labels: new Set(data.leading), places: new Set(used("place")),
  ranks: null, unit: null, map: 0 };

function keepDensity() {
  const all = densities(data, filters.setting);
  if (all.includes(filters.density)) return;
  filters.density = all.includes(0.01) ? 0.01 : largestOf(all, (density) => extent(filters.setting, density));
}

function swatch(label) {
  const svg = Plot.plot({ width: 14, height: 14, margin: 0, axis: null, symbol: kShapes, x: { domain: [0, 1] }, y: { domain: [0, 1] },
    marks: [Plot.dot([label], { x: () => 0.5, y: () => 0.5, r: 4.5, symbol: symbolOf, fill: colourOf(label), stroke: colourOf(label) })] });
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

/** More chips than these are behind a button until they are wanted. */
const kChips = 6;
const opened = new Set();
const updates = [];  // of what the controls say of the choice

function chips(legend, name, indexes, texts, chosen, mark) {
  const boxes = indexes.map((index) => {
    const box = element("input", { type: "checkbox", name, value: index, onchange: () => {
      if (box.checked) chosen.add(index); else chosen.delete(index);
      draw();
    } });
    box.checked = true;
    return [index, box];
  });
  const all = (which) => () => {
    for (const [index, box] of boxes) {
      box.checked = which(index);
      if (box.checked) chosen.add(index); else chosen.delete(index);
    }
    draw();
  };
  const many = indexes.length > kChips;
  const field = element("fieldset", { class: many ? `${name} many` : name }, element("legend", {}, legend));
  if (many) {
    const button = element("button", { type: "button", class: "choose", "aria-expanded": String(opened.has(name)), onclick: () => {
      if (opened.has(name)) opened.delete(name); else opened.add(name);
      button.setAttribute("aria-expanded", opened.has(name));
      field.classList.toggle("open", opened.has(name));
    } });
    updates.push(() => { button.textContent = `${indexes.filter((index) => chosen.has(index)).length} of ${indexes.length} shown: choose`; });
    field.append(button);
    field.classList.toggle("open", opened.has(name));
  }
  field.append(...boxes.map(([index, box]) => element("label", { class: "chip" }, box, ...(mark ? [mark(index)] : []), texts[index])),
    ...(name === "label" && data.leading.length < indexes.length
      ? [element("button", { type: "button", onclick: all((index) => data.leading.includes(index)) }, `the ${data.leading.length} fastest`)] : []),
    ...(indexes.length > 2 ? [element("button", { type: "button", onclick: all(() => true) }, "all"), element("button", { type: "button", onclick: all(() => false) }, "none")] : []));
  return field;
}

function choice(legend, name, options, chosen, onchange) {
  const select = element("select", { name, "aria-label": legend, onchange: () => onchange(options[select.selectedIndex][0]) },
    ...options.map(([value, shown]) => { const o = element("option", {}, shown); o.selected = value === chosen; return o; }));
  return element("fieldset", {}, element("legend", {}, legend), select);
}

function drawControls() {
  const controls = document.getElementById("controls");
  const fields = [];
  updates.length = 0;
  const settings = used("setting");
  if (settings.length > 1) {
    fields.push(choice("setting", "setting", settings.map((s) => [s, data.settings[s]]), filters.setting,
      (value) => { filters.setting = value; keepDensity(); drawControls(); draw(); }));
  }
  const all = densities(data, filters.setting);
  if (all.length > 1) {
    fields.push(choice("density", "density", all.map((d) => [d, String(d)]), filters.density, (value) => { filters.density = value; draw(); }));
  }
  if (used("place").length > 1) fields.push(chips("platforms", "place", used("place"), data.places, filters.places));
  fields.push(chips("schemes", "label", used("label"), data.labels, filters.labels, swatch));
  for (const field of fields) {
    for (const box of field.querySelectorAll("input")) {
      box.checked = (box.name === "place" ? filters.places : filters.labels).has(Number(box.value));
    }
  }
  controls.replaceChildren(...fields);
}

// --- Figures

let printing = false;

/** From so many pixels on, figures of one chart are beside each other. */
const kHalves = 1000;

/** Pixels of a chart, of which there are so many beside each other. */
const width = (wide, charts) => {
  if (printing) return charts === 1 ? 580 : wide ? 690 : 345;  // of A4 and Letter
  const body = document.getElementById("figures").clientWidth;
  if (charts === 1) return Math.max(240, (body >= kHalves ? Math.floor((body - 16) / 2) : body) - 22);
  const least = wide ? 560 : 480;
  const columns = Math.max(1, Math.floor((body + 16) / (least + 16)));
  return Math.max(240, Math.floor((body - 16 * (columns - 1)) / columns) - 22);
};

function panels(ofPlaces, plotOf, wide = false) {
  const places = distinct(ofPlaces.map((c) => c.place));
  const box = element("div", { class: places.length === 1 ? "panels single" : wide ? "panels wide" : "panels" });
  for (const place of places) {
    box.append(element("div", { class: "panel", "data-place": place }, element("h3", {}, data.places[place]), plotOf(place)));
  }
  return box;
}

const base = { symbol: kShapes, style: { fontSize: "11px", fontFamily: "inherit" }, marginTop: 22 };

/** Ticks of ranks that do not overlap on an axis of so many pixels. */
function rankTicks(ranks, pixels) {
  const [low, high] = [Math.log2(ranks[0]), Math.log2(ranks[ranks.length - 1])];
  const kept = [];
  for (const p of ranks) {
    const at = high > low ? (Math.log2(p) - low) / (high - low) * pixels : 0;
    if (kept.length === 0 || at - kept[kept.length - 1].at > 10 + 7 * String(p).length) kept.push({ p, at });
  }
  return kept.map((k) => k.p);
}

/** 1, 10, 100 ..; with others between them where those are few. */
function logTicks(low, high) {
  const span = Math.log10(high / low);
  const factors = span < 0.8 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : span < 2.5 ? [1, 2, 5] : [1];
  const step = Math.max(1, Math.ceil(span / 8));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)); power += step) {
    for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  return ticks;
}

/** The marks of an axis whose ticks all have a text; ticks in a logarithmic scale's own format are left blank here and there. */
const axisOf = (key, ticks, format) => (key === "x" ? Plot.axisX : Plot.axisY)(ticks, { text: (tick) => format(tick) });

/** What the colours mean, where the series have no names beside them. */
const key = (labels) => element("div", { class: "key" }, ...labels.map((label) => element("span", {}, swatch(label), data.labels[label])));

const kLine = 12;  // pixels of a line of labels

/** A mark: the name of each series at the right end, on the height of its last point or moved apart, and a line from there to it. */
function directLabels(mine) {
  const last = [...new Map(mine.slice().sort((a, b) => a.ranks - b.ranks).map((p) => [p.label, p])).values()];
  return (index, { x, y }, channels, { width: all, height, marginRight, marginBottom }) => {
    const ends = last.map((p) => ({ label: p.label, x: x(p.ranks), y: y(p.value) })).sort((a, b) => a.y - b.y);
    let before = -Infinity;
    for (const end of ends) { end.to = Math.max(end.y, before + kLine); before = end.to; }
    let next = height - marginBottom + kLine;
    for (const end of ends.slice().reverse()) { end.to = Math.min(end.to, next - kLine); next = end.to; }
    const right = all - marginRight;
    const svg = (tag, attributes, ...children) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.append(...children);
      return made;
    };
    return svg("g", { class: "direct" }, ...ends.flatMap((end) => [
      svg("path", { d: `M${end.x + 5},${end.y}L${Math.max(end.x + 5, right)},${end.y}L${right + 8},${end.to}`, fill: "none", stroke: colourOf(end.label), "stroke-width": 0.6, "stroke-opacity": 0.45 }),
      svg("text", { x: right + 10, y: end.to, dy: "0.32em", "text-anchor": "start", fill: `color-mix(in srgb, ${colourOf(end.label)} 65%, var(--ink))` }, data.labels[end.label])]));
  };
}

/** A short horizontal line: the formula of a series that has one number of ranks. */
const kBar = { draw: (context) => { context.moveTo(-9, 0); context.lineTo(9, 0); } };

/** A chart over the ranks for each place: points, the line of the formula, the band of its interval. */
function overRanks(points, { formula, label, format, linear = false, rule = null }) {
  const ranks = distinct(points.map((p) => p.ranks));
  const series = (place) => distinct(points.filter((p) => p.place === place).map((p) => p.label)).length;
  const values = points.flatMap((p) => [p.value, ...(formula?.(p) ?? [])]).filter((v) => linear || v > 0);
  const low = Math.min(...values, ...(rule === null ? [] : [rule]));
  const high = Math.max(...values, ...(rule === null ? [] : [rule]));
  const w = width(false, distinct(points.map((p) => p.place)).length);
  const ticks = logTicks(low, high);
  const domain = high > low * 1.2 ? [low / 1.15, high * 1.15] : [low / 2, high * 2];
  const names = 14 + 6.2 * Math.max(...points.map((p) => data.labels[p.label].length));
  const named = w >= 520 && names <= 0.4 * w;
  const lines = Math.max(...distinct(points.map((p) => p.place)).map(series));
  const kHeight = Math.max(300, named ? base.marginTop + 40 + kLine * lines : 0);
  const marginRight = named ? names : 14;
  const bands = distinct(points.filter((p) => formula?.(p)).map((p) => p.label)).length;
  const of = (p) => ({ x: "ranks", stroke: (d) => colourOf(d.label), z: "label" });
  const axisTicks = linear ? null : ticks.filter((t) => t >= domain[0] && t <= domain[1]);
  const pixels = (kHeight - base.marginTop - 40) / (linear ? Math.max(high, 1.1) - Math.min(low, 1) : Math.log(domain[1] / domain[0]));
  const at = (value) => (linear ? value : Math.log(value)) * pixels;
  const charts = panels(points, (place) => {
    const mine = points.filter((p) => p.place === place && (linear || p.value > 0));
    const known = mine.filter((p) => formula?.(p) && formula(p)[0] > 0);
    const unknown = mine.filter((p) => !formula?.(p));
    const exact = (p) => formula(p)[1] <= formula(p)[0] * (1 + 1e-9);
    const alone = known.filter((p) => known.filter((q) => q.label === p.label).length === 1);
    // A mark on which others lie is larger, so that all are seen.
    const under = (p) => mine.slice(mine.indexOf(p) + 1).filter((q) => q.ranks === p.ranks && Math.abs(at(q.value) - at(p.value)) < 2.5).length;
    const radius = new Map(mine.map((p) => [p, 4 + 1.4 * Math.min(3, under(p))]));
    const opacity = Math.max(0.05, Math.min(0.16, 0.6 / bands));
    return Plot.plot({ ...base, width: w, height: kHeight, marginLeft: 58, marginRight, marginBottom: 40,
      x: { type: "log", base: 2, domain: ranks.length > 1 ? [ranks[0], ranks[ranks.length - 1]] : [ranks[0] / 2, ranks[0] * 2],
        label: "ranks P", insetLeft: 8, insetRight: 8 },
      y: linear ? { domain: [Math.min(low, 1), Math.max(high, 1.1)], nice: true, grid: true, label, tickFormat: format } : { type: "log", domain, label },
      marks: [
        axisOf("x", rankTicks(ranks, w - 66 - marginRight), String),
        ...(linear ? [] : [Plot.gridY(axisTicks), axisOf("y", axisTicks, format)]),
        ...(rule === null ? [] : [Plot.ruleY([rule], { stroke: "var(--soft)", strokeDasharray: "3 3" })]),
        Plot.areaY(known.filter((p) => !exact(p)),
          { x: "ranks", y1: (p) => formula(p)[0], y2: (p) => formula(p)[1], z: "label", fill: (p) => colourOf(p.label), fillOpacity: opacity }),
        ...solidLines(known.filter(exact), (p) => p.label, { ...of(), y: (p) => formula(p)[0], strokeWidth: 1.4, strokeOpacity: 0.8 }),
        Plot.ruleX(alone.filter((p) => !exact(p)),
          { x: "ranks", y1: (p) => formula(p)[0], y2: (p) => formula(p)[1], stroke: (p) => colourOf(p.label), strokeWidth: 18, strokeOpacity: opacity, strokeLinecap: "butt" }),
        Plot.dot(alone.filter(exact),
          { x: "ranks", y: (p) => formula(p)[0], symbol: kBar, stroke: (p) => colourOf(p.label), strokeWidth: 1.4, strokeOpacity: 0.8 }),
        Plot.line(unknown, { ...of(), y: "value", strokeWidth: 1, strokeOpacity: 0.5, strokeDasharray: formula ? "4 3" : null }),
        Plot.dot(mine, { x: "ranks", y: "value", r: { value: (d) => radius.get(d), scale: null }, symbol: (d) => symbolOf(d.label), fill: (d) => colourOf(d.label), stroke: "var(--panel)", strokeWidth: 0.7,
          className: "point" }),
        ...(named ? [directLabels(mine)] : []),
        Plot.tip(mine, Plot.pointer({ x: "ranks", y: "value", title: (p) => tipOf(p, formula, format), fill: "var(--panel)", stroke: "var(--soft)" })),
      ] });
  });
  if (!named && !printing) charts.prepend(key(distinct(points.map((p) => p.label))));
  return charts;
}

function tipOf(p, formula, format) {
  const range = formula?.(p);
  const shown = (v) => format === seconds ? seconds(v) : text(v);
  const lines = [data.labels[p.label], `P = ${p.ranks}${p.density === null ? "" : `, density ${p.density}`}`, shown(p.value)];
  if (range) lines.push(`formula ${range[1] > range[0] * (1 + 1e-9) ? `${shown(range[0])} .. ${shown(range[1])}` : shown(range[0])}`);
  if (p.verdict !== "-") lines.push(p.verdict);
  return lines.join("\n");
}

function timeFigure(curves) {
  const points = pointsOf(curves, (p) => p.time_s);
  if (points.length === 0) return null;
  const training = points.some((p) => p.parts[0]?.[0] === "computation");
  return { id: "time", says: sayTime(points, data.labels, data.places), title: training ? "Time of an iteration" : "Time",
    caption: training ? "Simulated seconds of a training's iteration against the ranks; both axes are logarithmic."
      : "Simulated time of an allreduce (points) against the ranks, beside the formula of its paper (line; band where it is an interval). Where some iterations do more work, the points are the mean, and the formula is of an iteration without it. Both axes are logarithmic. Where there is no formula, a thin dashed line joins the points.",
    content: overRanks(points, { formula: (p) => p.formula_s, label: "time", format: seconds }) };
}

function volumeFigure(curves) {
  const points = pointsOf(curves, (p) => p.words).filter((p) => p.value > 0);
  if (points.length === 0) return null;
  return { id: "volume", says: sayVolume(points, data.labels, data.places), title: "Volume",
    caption: "Words of 4 bytes, the most that a rank sent or received, beside the words on the formula's critical path.",
    content: overRanks(points, { formula: (p) => p.formula_words[1] > 0 ? p.formula_words : null, label: "words", format: words }) };
}

function congestionFigure(curves) {
  const points = pointsOf(curves, (p) => p.congestion_factor);
  if (points.length === 0) return null;
  return { id: "congestion", says: sayCongestion(points, data.labels, data.places), title: "Congestion factor by platform",
    caption: "The time divided by the time of the same schedule on the α-β machine with the platform's end-to-end α and β. 1: no congestion.",
    content: overRanks(points, { label: "factor", format: (v) => text(v, 3), linear: Math.max(...points.map((p) => p.value)) < 8, rule: 1 }) };
}

function breakdownFigure(curves) {
  const points = pointsOf(curves, (p) => p.parts.length > 0 ? p.parts_time_s : null);
  const ranks = distinct(points.map((p) => p.ranks));
  if (ranks.length === 0) return null;
  // The largest P at which most curves are, unless the user chose another.
  const count = (r) => points.filter((p) => p.ranks === r).length;
  const most = Math.max(...ranks.map(count));
  const chosen = ranks.includes(filters.ranks) ? filters.ranks : ranks.filter((r) => count(r) === most).at(-1);
  const mine = points.filter((p) => p.ranks === chosen);
  const sum = (p) => p.parts.reduce((total, [, time]) => total + time, 0);
  const longest = Math.max(...mine.map(sum));
  const shares = filters.unit === null ? longest > 30 * Math.min(...mine.map(sum).filter((s) => s > 0)) : filters.unit === "share";
  const names = [...new Set(points.flatMap((p) => p.parts.map(([name]) => name)))];
  const parts = mine.flatMap((p) => {
    let from = 0;
    return p.parts.map(([name, time]) => {
      const factor = shares ? 1 / (sum(p) || 1) : 1;
      const part = { ...p, name, time, x1: from * factor, x2: (from + time) * factor };
      from += time;
      return part;
    });
  });
  const longestName = (place) => Math.min(Math.max(120, 0.4 * w), 12 + 6.1 * Math.max(...mine.filter((p) => p.place === place).map((p) => data.labels[p.label].length)));
  const kParts = data.palette.parts[0].length;
  const partColour = (name) => `var(--p${names.indexOf(name) % kParts})`;
  const partOpacity = (name) => names.indexOf(name) < kParts ? 1 : 0.55;
  const training = names.includes("computation");
  const w = width(true, distinct(mine.map((p) => p.place)).length);
  const content = element("div", {},
    element("div", { class: "key" },
      ...names.map((name) => element("span", {}, element("i", { style: `background:${partColour(name)}; opacity:${partOpacity(name)}` }), name)),
      choice("ranks", "ranks", ranks.map((r) => [r, `P = ${r}`]), chosen, (value) => { filters.ranks = value; draw(); }).lastChild,
      choice("bars", "unit", [["share", "shares"], ["time", "seconds"]], shares ? "share" : "time", (value) => { filters.unit = value; draw(); }).lastChild),
    panels(mine, (place) => {
      const here = mine.filter((p) => p.place === place);
      const margin = longestName(place);
      const name = (d) => data.labels[d.label];
      const order = here.map(name);
      return Plot.plot({ ...base, width: w, height: 60 + 24 * order.length, marginLeft: margin, marginRight: 74, marginBottom: 38, marginTop: 6,
        x: { domain: [0, shares ? 1 : longest], label: shares ? "share of the phases' sum" : "time", tickFormat: shares ? "%" : seconds, grid: true,
          ticks: Math.max(2, Math.floor((w - margin - 74) / 80)) },
        y: { domain: order, label: null, tickFormat: (t) => 6.1 * t.length > margin ? `${t.slice(0, Math.floor(margin / 6.1) - 2)}…` : t, tickSize: 0 },
        marks: [
          Plot.barX(parts.filter((p) => p.place === place), { x1: "x1", x2: "x2", y: name, fill: (d) => partColour(d.name),
            fillOpacity: (d) => partOpacity(d.name), insetTop: 3, insetBottom: 3, className: "bar" }),
          Plot.text(here, { x: (p) => shares ? 1 : sum(p), y: name, text: (p) => seconds(p.value), textAnchor: "start", dx: 5 }),
          Plot.tip(parts.filter((p) => p.place === place), Plot.pointerY({ x: (d) => (d.x1 + d.x2) / 2, y: name, fill: "var(--panel)", stroke: "var(--soft)",
            maxRadius: 60, anchor: "top-left",
            title: (d) => `${data.labels[d.label]}, P = ${d.ranks}: ${seconds(d.value)}\n${d.parts.map(([part, t]) => `${part} ${seconds(t)}`).join("\n")}` })),
        ] });
    }, true));
  return { id: "breakdown", says: sayBreakdown(mine, data.labels, data.places), title: training ? "Where the iteration's time goes" : "Phases",
    caption: training ? "Parts of a training's iteration; the whole stands beside each bar."
      : "The time of each phase on the rank where it takes longest; the simulated time of the reported iteration is beside each bar. Phases of different ranks, or of a scheme that communicates beside its own program, overlap.", content };
}

function crossoverFigure() {
  const all = winners(data, filters);
  if (all.every((c) => c.second === null)) return null;
  const ranks = distinct(all.map((c) => c.ranks));
  const named = (c) => c.density === null ? "dense" : String(c.density);
  const rows = [...distinct(all.filter((c) => c.density !== null).map((c) => c.density)).map(String), ...(all.some((c) => c.density === null) ? ["dense"] : [])].reverse();
  const w = width(false, distinct(all.map((c) => c.place)).length);
  const cell = (w - 76) / ranks.length;
  const short = (label) => {
    const name = data.labels[label];
    const room = Math.floor((cell - 6) / 6);
    return room < 3 ? "" : name.length > room ? `${name.slice(0, room - 1)}…` : name;
  };
  const keyed = (box) => {
    const cut = distinct(all.map((c) => c.label)).filter((label) => short(label) !== data.labels[label]);
    if (cut.length > 0 && !printing) box.prepend(key(cut));
    return box;
  };
  return { id: "crossover", says: sayCrossover(all, data.labels), title: "Crossover map",
    caption: "The fastest of the chosen schemes at each number of ranks and density, and how many times longer the second takes.",
    content: keyed(panels(all, (place) => {
      const mine = all.filter((c) => c.place === place);
      return Plot.plot({ ...base, width: w, height: 66 + 44 * rows.length, marginLeft: 68, marginRight: 8, marginTop: 8, marginBottom: 40,
        x: { type: "band", domain: ranks, label: "ranks P", padding: 0.04, tickFormat: String }, y: { type: "band", domain: rows, label: "density", padding: 0.06 },
        marks: [
          Plot.cell(mine, { x: "ranks", y: named, fill: (c) => colourOf(c.label), className: "cell", rx: 3 }),
          Plot.dot(mine.filter((c) => roundOf(c.label) > 0), { x: "ranks", y: named, dx: 8 - cell / 2, dy: -12, r: 3, symbol: (c) => symbolOf(c.label), fill: "var(--on-cell)",
            className: "mark" }),
          Plot.text(mine, { x: "ranks", y: named, text: (c) => `${short(c.label)}${c.lead !== null && cell > 34 ? `\n${text(c.lead, 3)}×` : ""}`, fill: "var(--on-cell)", fontSize: 10.5, lineHeight: 1.25 }),
          Plot.tip(mine, Plot.pointer({ x: "ranks", y: named, fill: "var(--panel)", stroke: "var(--soft)",
            title: (c) => `P = ${c.ranks}, density ${named(c)}\n${data.labels[c.label]}: ${seconds(c.time_s)}${c.second === null ? "\nalone" : `\nthen ${data.labels[c.second]}, ${text(c.lead)} times as long`}` })),
        ] });
    })) };
}

const kSteps = data.palette.heat_steps;
const heat = (u) => `var(--u${kSteps.filter((s) => u >= s).length})`;

function linksFigure() {
  if (data.links.length === 0) return null;
  const map = data.links[filters.map];
  const content = element("div", {}, element("div", { class: "key" },
    ...(data.links.length > 1 ? [choice("result", "map", data.links.map((m, i) => [i, m.title]), filters.map, (value) => { filters.map = value; draw(); }).lastChild] : [element("strong", {}, map.title)]),
    ...[0, ...kSteps].map((s, i) => element("span", {}, element("i", { style: `background:var(--u${i})` }), `${i === 0 ? "below 5" : `from ${Math.round(s * 100)}`}%`))));
  const box = element("div", { class: "panels wide" });
  if (map.note) content.append(element("p", { class: "note" }, map.note));
  if (map.bundles.length > 0) {
    const size = Math.min(620, width(true));
    const ends = map.bundles.map(([from, to, mean, peak, bytes, links]) => ({ a: map.vertices[from], b: map.vertices[to], mean, peak, bytes, links }));
    const hosts = map.vertices.filter((v) => v[1] === 1);
    const switches = map.vertices.filter((v) => v[1] === 0);
    const thin = ends.length > 800;
    box.append(element("div", { class: "panel" }, Plot.plot({ ...base, width: size, height: size, margin: 12, x: { axis: null, domain: [0, 1] }, y: { axis: null, domain: [1, 0] },
      marks: [
        Plot.link(ends, { x1: (e) => e.a[2], y1: (e) => e.a[3], x2: (e) => e.b[2], y2: (e) => e.b[3], stroke: (e) => heat(e.mean), className: "link",
          strokeWidth: (e) => (thin ? 0.6 : 1.1) * (1 + 1.2 * Math.min(1, e.mean)), strokeOpacity: thin ? 0.75 : 0.95 }),
        Plot.dot(hosts, { x: "2", y: "3", r: Math.max(1, Math.min(3.5, 220 / hosts.length)), fill: "var(--soft)" }),
        Plot.dot(switches, { x: "2", y: "3", r: Math.max(2, Math.min(6, 300 / switches.length)), symbol: "square", fill: "var(--ink)" }),
        Plot.tip(ends, Plot.pointer({ x: (e) => (e.a[2] + e.b[2]) / 2, y: (e) => (e.a[3] + e.b[3]) / 2, fill: "var(--panel)", stroke: "var(--soft)", maxRadius: 20,
          title: (e) => `${e.a[0]} - ${e.b[0]}\nutilisation ${text(100 * e.mean, 3)}%, peak ${text(100 * e.peak, 3)}%\n${text(e.bytes)} bytes on ${e.links} ${e.links === 1 ? "link" : "links"}` })),
      ] })));
  }
  box.append(element("div", { class: "panel scroll" }, element("h3", {}, "Hottest links"),
    table(["link", "bytes", "mean", "peak"], map.hottest.map(([name, , bytes, mean, peak]) => [name, bytes, `${text(100 * mean, 3)}%`, `${text(100 * peak, 3)}%`]))));
  content.append(box);
  return { id: "links", says: sayLinks(map), title: "Links",
    caption: "Mean utilisation of the links that carried something: bytes over what they could have carried in the run. Cables of both directions, and parallel ones, are one line with the colour of the busiest. Dots are hosts, squares switches.", content };
}

function table(headings, rows, classOf = () => "") {
  const number = (cell) => typeof cell === "number" || /^-?[\d.]+(e-?\d+)?( ?(%|s|ms|µs|ns))?$/.test(String(cell).replace("≤ ", "")) || cell === "-";
  const numeric = headings.map((_, i) => rows.length > 0 && rows.every((r) => number(r[i])));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...headings.map((h, i) => element("th", { class: numeric[i] ? "number" : null }, h)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, i) => element("td", { "data-heading": headings[i], class: numeric[i] ? "number" : classOf(cell) || null }, typeof cell === "number" ? text(cell) : cell))))));
}

function measuredFigure() {
  const all = measuredPanels(data.validation);
  if (all.length === 0) return null;
  const rows = all.flatMap((p) => p.rows);
  const algorithms = [...new Set(rows.map((r) => r.algorithm))];
  const label = (r) => algorithms.indexOf(r.algorithm);
  const sizes = [Math.min(...rows.map((r) => r.bytes)), Math.max(...rows.map((r) => r.bytes))];
  const times = rows.flatMap((r) => [r.measured_s, r.simulated_s]);
  const domain = [Math.min(...times) / 1.15, Math.max(...times) * 1.15];
  const ticks = logTicks(...domain).filter((t) => t >= domain[0] && t <= domain[1]);
  const w = width(false, all.length);
  const box = element("div", { class: all.length === 1 ? "panels single" : "panels" }, ...all.map((panel) =>
    element("div", { class: "panel" }, element("h3", {}, panel.title), Plot.plot({ ...base, width: w, height: 300, marginLeft: 58, marginBottom: 40,
      x: { type: "log", base: 2, domain: sizes[1] > sizes[0] ? sizes : [sizes[0] / 2, sizes[0] * 2], label: "size", insetLeft: 8, insetRight: 8 },
      y: { type: "log", domain, label: "time" },
      marks: [
        axisOf("x", [...Array(8)].map((_, i) => 32 ** i).filter((t) => t >= sizes[0] && t <= sizes[1]), bytes),
        Plot.gridY(ticks), axisOf("y", ticks, seconds),
        ...solidLines(panel.rows, label,
          { x: "bytes", y: "simulated_s", z: "algorithm", stroke: (r) => colourOf(label(r)), strokeWidth: 1.4, strokeOpacity: 0.8, className: "simulated" }),
        Plot.dot(panel.rows, { x: "bytes", y: "measured_s", r: 4, symbol: (r) => symbolOf(label(r)), fill: (r) => colourOf(label(r)), stroke: "var(--panel)", strokeWidth: 0.7,
          className: "point" }),
        Plot.tip(panel.rows, Plot.pointer({ x: "bytes", y: "measured_s", fill: "var(--panel)", stroke: "var(--soft)",
          title: (r) => `${r.algorithm}, ${bytes(r.bytes)}\nmeasured ${seconds(r.measured_s)}\nsimulated ${seconds(r.simulated_s)} (${percent(r.error, true)})` })),
      ] }))));
  const summaries = data.validation.filter((r) => r.kind === "summary");
  const headings = ["machine", "basis", "collective", "predictor", "rows", "median", "90th percentile", "bias", "pairs", "right", "choices", "regret", "worst"];
  const content = element("div", {}, element("div", { class: "key" }, ...algorithms.map((name, i) => element("span", {}, swatch(i), name))), box,
    ...(summaries.length === 0 ? [] : [element("div", { class: "scroll" }, table(headings, summaries.map((s) => [s.machine, s.basis, s.collective, s.predictor, s.rows,
      percent(s.median_error), percent(s.p90_error), percent(s.bias, true), s.pairs, percent(s.pairs_right), s.choices, percent(s.mean_regret), percent(s.worst_regret)])))]));
  return { id: "measured", says: sayMeasured(rows), title: "Measured and simulated",
    caption: "Points were measured, lines are simulated. Errors are ratios, over and under alike. Right are pairs of algorithms in the measured order. " +
      "Regret is the time lost by taking the algorithm that is fastest by the prediction.", content };
}

function accuracyFigure() {
  const curves = data.validation.filter((r) => r.kind === "training_curve");
  if (curves.length === 0) return null;
  const labels = [...new Set(curves.map((c) => c.label))];
  const all = accuracyPanels(curves);
  const thinned = (ticks) => ticks.filter((_, i) => i % Math.ceil(ticks.length * 60 / w) === 0);
  const w = width(false, all.length);
  const box = element("div", { class: all.length === 1 ? "panels single" : "panels" }, ...all.map((panel) =>
    element("div", { class: "panel" }, element("h3", {}, panel.title), Plot.plot({ ...base, width: w, height: 300, marginLeft: 48, marginBottom: 40,
      x: panel.x === "iteration" ? { label: "iteration" }
        : { type: "log", label: "simulated time" },
      y: { domain: [0, 1], grid: true, label: "accuracy", tickFormat: (v) => percent(v) },
      marks: [
        ...(panel.x === "iteration" ? [] : [axisOf("x", thinned(logTicks(...panel.domain).filter((t) => t >= panel.domain[0] && t <= panel.domain[1])), seconds)]),
        ...solidLines(panel.points, (p) => labels.indexOf(p.label),
          { x: panel.x, y: "accuracy", z: "label", stroke: (p) => colourOf(labels.indexOf(p.label)), strokeWidth: 1.4, className: "accuracy" }),
        Plot.tip(panel.points, Plot.pointer({ x: panel.x, y: "accuracy", fill: "var(--panel)", stroke: "var(--soft)",
          title: (p) => `${p.label}, iteration ${p.iteration}\n${seconds(p.time_s)}\naccuracy ${text(100 * p.accuracy, 3)}%, ${p.seeds} seeds` })),
      ] }))));
  return { id: "accuracy", says: sayAccuracy(curves), title: "Accuracy of trainings",
    caption: "On held-out data, as the mean over seeds: over simulated time at each place, and over iterations.",
    content: element("div", {}, element("div", { class: "key" }, ...labels.map((name, i) => element("span", {}, swatch(i), name))), box) };
}

function claimsFigure() {
  if (data.claims.length === 0) return null;
  const count = (verdict) => data.claims.filter((c) => c.verdict === verdict).length;
  const share = (claims) => `${claims.filter((c) => c.verdict === "holds").length} of ${claims.length}`;
  const predicted = data.claims.filter((c) => c.kind === "number" && c.basis === "predicted" && c.verdict !== "not simulated");
  const informative = predicted.filter((c) => c.informative === true);
  const unstated = predicted.filter((c) => !c.null_model);
  const nullSays = (c) => c.null_holds === true ? "would hold" : c.null_holds === false ? "would miss" : "-";
  return { id: "claims", title: "The papers' claims",
    caption: `${count("holds")} hold, ${count("misses")} miss, ${count("not simulated")} are not simulated. A calibrated claim holds by construction. ` +
      `Of the predicted numbers ${share(predicted)} hold. Informative are those whose null model, a prediction without a simulator, misses: ${share(informative)} of them hold.` +
      (unstated.length > 0 ? ` ${unstated.length} state no null model.` : ""),
    content: element("div", { class: "scroll" }, table(["claim", "what", "kind", "source", "paper", "simulated", "unit", "ratio", "basis", "verdict", "null", "null says", "null model", "range", "misses at", "note"],
      data.claims.map((c) => [c.claim, c.what, c.kind ?? "", c.source, `${{ "at most": "≤ ", "at least": "≥ " }[c.kind] ?? ""}${text(c.paper)}`, text(c.simulated), c.unit ?? "", text(c.ratio, 3), c.basis, c.verdict, text(c.null ?? null), nullSays(c), c.null_model ?? "", typeof c.range_low === "number" ? `${text(c.range_low)} .. ${text(c.range_high)}` : "-", c.misses_at ?? "", c.note ?? ""]),
      (cell) => ["holds", "misses"].includes(cell) ? cell : "")) };
}

function troublesFigure() {
  const mine = data.troubles.filter((t) => filters.labels.has(t.label) && filters.places.has(t.place));
  if (mine.length === 0) return null;
  const groups = new Map();  // those that differ in nothing but the scheme
  for (const t of mine) {
    const rest = [t.status, data.places[t.place], String(t.ranks), data.settings[t.setting] || "-", t.reason];
    const key = JSON.stringify(rest);
    if (!groups.has(key)) groups.set(key, { rest, labels: new Set() });
    groups.get(key).labels.add(data.labels[t.label]);
  }
  return { id: "troubles", title: "Skipped and failed",
    caption: `${mine.length} of ${data.rows} points have no result, in all settings together.`,
    content: element("div", { class: "scroll" }, table(["status", "schemes", "platform", "ranks", "setting", "reason"],
      [...groups.values()].map(({ rest: [status, ...rest], labels }) => [status, [...labels].join(", "), ...rest]),
      (cell) => cell === "failed" ? "failed" : "")) };
}

function resultsFigure(curves) {
  const rows = curves.flatMap((c) => c.points.map((p) => [data.labels[c.label], data.places[c.place], p.ranks, c.density === null ? "-" : String(c.density), seconds(p.time_s), seconds(p.parts_time_s),
    p.formula_s ? (p.formula_s[0] === p.formula_s[1] ? seconds(p.formula_s[0]) : `${seconds(p.formula_s[0])} .. ${seconds(p.formula_s[1])}`) : "-",
    words(p.words), text(p.congestion_factor, 4), p.verdict]));
  if (rows.length === 0) return null;
  const details = element("details", {}, element("summary", {}, `All ${rows.length} results shown, as a table`));
  details.addEventListener("toggle", () => {  // made when it is asked for
    if (details.open && details.children.length === 1) {
      details.append(element("div", { class: "scroll" }, table(["scheme", "platform", "ranks", "density", "mean time", "reported iteration", "paper's formula of it", "words", "congestion", "verdict"], rows)));
    }
  });
  return { id: "results", title: null, content: details };
}

function draw() {
  const curves = shownCurves(data, filters);
  const figures = [timeFigure(curves), volumeFigure(curves), breakdownFigure(curves), congestionFigure(curves), crossoverFigure(), linksFigure(),
    measuredFigure(), accuracyFigure(), claimsFigure(), troublesFigure(), resultsFigure(curves)].filter(Boolean);
  const main = document.getElementById("figures");
  const single = (f) => f.content.matches(".single") || (f.content.querySelector(".single") !== null && f.content.querySelector("table") === null);
  const halves = figures.filter(single);
  const isHalf = (f) => main.clientWidth >= kHalves && !printing && halves.includes(f);
  main.replaceChildren(...figures.map((f) => element("section", { id: f.id, class: isHalf(f) ? "half" : null },
    ...(f.title ? [element("h2", {}, f.title)] : []), ...(f.says ? [element("p", { class: "says" }, f.says)] : []), f.content, ...(f.caption ? [element("p", { class: "caption" }, f.caption)] : []))));
  if (curves.length === 0 && data.curves.length > 0) {
    main.prepend(element("p", { class: "note" }, "No results pass the filters above."));
  }
  for (const update of updates) update();
  document.getElementById("shown").textContent = [data.settings[filters.setting] && `Setting: ${data.settings[filters.setting]}.`,
    filters.density !== null && `Density: ${filters.density}.`].filter(Boolean).join(" ");
}

const measuredTimes = data.validation.filter((r) => r.kind === "row").length;
const curvesOfTrainings = data.validation.filter((r) => r.kind === "training_curve").length;
if (data.title) document.title = document.querySelector("h1").textContent = data.title;
keepDensity();
document.getElementById("sources").textContent =
  `${[data.rows > 0 && `${data.rows} results`, data.claims.length > 0 && `${data.claims.length} claims`,
    measuredTimes > 0 && `${measuredTimes} measured times`, curvesOfTrainings > 0 && `${curvesOfTrainings} curves of trainings`].filter(Boolean).join(" and ")} of ${data.sources.length > 4 ? `${data.sources.length} files, ${data.sources[0]} to ${data.sources.at(-1)}` : data.sources.join(", ")}; page of thinwire ${data.version}.${data.common && ` In all results: ${data.common}.`}`;
if (data.curves.length + data.troubles.length > 0) drawControls();
draw();
for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) {
  window.addEventListener(event, () => { printing = on; draw(); });
}
let drawnFor = window.innerWidth;
let pending = 0;
window.addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(() => { if (window.innerWidth !== drawnFor) { drawnFor = window.innerWidth; draw(); } }, 150);
});
