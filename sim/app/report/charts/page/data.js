// What the page shows of the report's data under its filters. The data is what sim/app/report/charts/page.cpp
// writes: labels, places and settings by index, and curves, cells and so on that refer to them.

export const text = (value, digits = 4) => {
  if (value === null || value === undefined) return "-";
  if (value === 0) return "0";
  return Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
    ? value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(Number(value.toPrecision(digits)));
};

const units = [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
export const seconds = (value) => {
  if (value === null || value === undefined) return "-";
  if (value === 0) return "0 s";
  const [unit, factor] = units.find(([, f]) => Math.abs(value) >= f * 0.9995) ?? units[3];
  return `${Number((value / factor).toPrecision(4))} ${unit}`;
};

/** A number of words, in thousands, millions or billions. */
export const words = (value) => value >= 1e9 ? `${text(value / 1e9, 3)}G` : value >= 1e6 ? `${text(value / 1e6, 3)}M` : value >= 1e3 ? `${text(value / 1e3, 3)}k` : text(value, 3);

export const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

/** All densities of the sparse curves of a setting. */
export const densities = (data, setting) =>
  distinct(data.curves.filter((c) => c.setting === setting && c.density !== null).map((c) => c.density));

/** Curves that pass the filters {setting, density, labels, places}; dense ones are of all densities. */
export const shownCurves = (data, filters) => data.curves.filter((c) =>
  c.setting === filters.setting && (c.density === null || c.density === filters.density) &&
  filters.labels.has(c.label) && filters.places.has(c.place));

/** Points of curves as flat objects, where `value` is there. */
export const pointsOf = (curves, value) => curves.flatMap((c) =>
  c.points.filter((p) => value(p) !== null && value(p) !== undefined)
    .map((p) => ({ ...p, label: c.label, place: c.place, density: c.density, value: value(p) })));

/** The fastest of the schemes that are shown in each cell, and by how much: {ranks, density, label, time_s, lead, second}. */
export const winners = (data, filters) => data.cells
  .filter((c) => c.setting === filters.setting && filters.places.has(c.place))
  .map((c) => ({ ...c, candidates: c.candidates.filter(([label]) => filters.labels.has(label)) }))
  .filter((c) => c.candidates.length > 0)
  .map((c) => {
    const [[label, time], second] = c.candidates;
    return { place: c.place, ranks: c.ranks, density: c.density, label, time_s: time,
      second: second ? second[0] : null, lead: second && time > 0 ? second[1] / time : null };
  });

/** Measured rows by panel, by size in a panel: rows of `validate` of the same machine, run, test, collective and ranks; rows of `measure` say their panel. */
export const measuredPanels = (records) => {
  const panels = new Map();
  for (const r of records.filter((record) => record.kind === "row")) {
    const title = r.panel ?? `${r.machine}, ${r.collective}, ${r.ranks} ranks, ${r.run} ${r.test}, ${r.basis}${r.gpu ? ", GPU buffers" : ""}`;
    if (!panels.has(title)) panels.set(title, []);
    panels.get(title).push({ ...r, bytes: 4 * r.elements });
  }
  return [...panels].map(([title, rows]) => ({ title, rows: rows.sort((a, b) => a.bytes - b.bytes) }));
};

/** A number of bytes in the largest binary unit in which it is at least 1. */
export const bytes = (value) => {
  const [unit, factor] = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]].find(([, f]) => value >= f) ?? ["B", 1];
  return `${Number((value / factor).toPrecision(3))} ${unit}`;
};

/** A share as a percentage, with its sign if wanted. */
export const percent = (value, sign = false) => {
  if (value === null || value === undefined) return "-";
  const whole = Math.round(100 * value) + 0;  // no -0
  return `${sign && whole >= 0 ? "+" : ""}${whole}%`;
};

/** Curves of trainings by panel: each setting at each place over time, and each setting over iterations. */
export const accuracyPanels = (curves) => {
  const panels = new Map();
  const add = (title, x, curve) => {
    if (!panels.has(title)) panels.set(title, { title, x, points: [] });
    panels.get(title).points.push(...curve.points.map((p) => ({ ...p, label: curve.label, seeds: curve.seeds })));
  };
  for (const setting of new Set(curves.map((c) => c.setting))) {
    const mine = curves.filter((c) => c.setting === setting);
    for (const curve of mine) add(`${setting}: ${curve.place}`, "time_s", curve);
    for (const curve of mine.filter((c) => c.place === mine[0].place)) add(setting, "iteration", curve);
  }
  return [...panels.values()].map((panel) => {
    const values = panel.points.map((p) => p[panel.x]);
    return { ...panel, domain: [Math.min(...values), Math.max(...values)] };
  });
};
