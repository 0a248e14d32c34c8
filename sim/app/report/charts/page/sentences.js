// What a chart shows in its data, in a sentence or two: the first, by how much, and where it changes.
import { distinct, percent, seconds, text, words } from "./data.js";

const join = (parts) => parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
const ratio = (value) => value < 10 ? text(value, 2) : text(value, 3);
/** Below it two times are told to be close: recommendations call them equal, too. */
const kClose = 1.05;

/** Of points of one place: by number of ranks those with the least value first. */
const byRanks = (points) => distinct(points.map((p) => p.ranks)).map((ranks) =>
  ({ ranks, all: points.filter((p) => p.ranks === ranks).sort((a, b) => a.value - b.value) }));

const behind = ({ all: [first, second] }) => second && first.value > 0 ? second.value / first.value : null;

/** Neighbouring numbers of ranks with the same first label. */
function runsOf(groups) {
  const runs = [];
  for (const group of groups) {
    const label = group.all[0].label;
    if (runs.length === 0 || runs[runs.length - 1].label !== label) runs.push({ label, from: group.ranks, to: group.ranks });
    runs[runs.length - 1].to = group.ranks;
  }
  return runs;
}

/** "it is 5.3 times as fast as gtopk", of a group. */
function lead(group, labels, phrases) {
  const by = behind(group);
  if (by === null) return null;
  const second = labels[group.all[1].label];
  return by < kClose ? phrases.close(second) : phrases.ahead(ratio(by), second);
}

function ofOnePlace(points, labels, phrases) {
  const groups = byRanks(points);
  const [begin, end] = [groups[0], groups[groups.length - 1]];
  const name = (label) => labels[label];
  const here = distinct(points.map((p) => p.label));
  if (here.length === 1) {
    const [least, most] = [begin.all[0], end.all[0]];
    return `${name(here[0])}: ${phrases.value(least.value)} at P = ${least.ranks}` +
      (groups.length > 1 ? `, ${phrases.value(most.value)} at P = ${most.ranks}.` : ".");
  }
  const runs = runsOf(groups);
  const first = name(end.all[0].label);
  const last = lead(end, labels, phrases);
  if (groups.length === 1) return `At P = ${end.ranks} ${first} ${phrases.is}${last ? `: ${last}` : ""}.`;
  if (runs.length === 1) {
    const before = lead(begin, labels, phrases);
    return `${first} ${phrases.is} from P = ${begin.ranks} to ${end.ranks}.` +
      (before && last ? ` At P = ${begin.ranks} ${before}, and at P = ${end.ranks} ${last}.` : "");
  }
  const course = runs.length > 3
    ? `What ${phrases.is} changes ${runs.length - 1} times between P = ${begin.ranks} and ${end.ranks}.`
    : `${runs.map((run, i) => i === 0 ? `${name(run.label)} ${phrases.is} up to P = ${run.to}` : i < runs.length - 1
      ? `${name(run.label)} ${run.from === run.to ? `at ${run.from}` : `from ${run.from} to ${run.to}`}` : `${name(run.label)} from ${run.from} on`).join(", ")}.`;
  return course + (last ? ` At P = ${end.ranks} ${last}.` : "");
}

function ofPlaces(points, labels, places, phrases) {
  const at = distinct(points.map((p) => p.place)).map((place) => {
    const groups = byRanks(points.filter((p) => p.place === place));
    return { place, group: groups[groups.length - 1], changes: runsOf(groups).length > 1 };
  });
  const kinds = distinct(at.map((one) => one.group.all[0].label))
    .map((label) => ({ label, of: at.filter((one) => one.group.all[0].label === label) })).sort((a, b) => b.of.length - a.of.length);
  const where = (of) => of.length <= 2 ? join(of.map((one) => places[one.place])) : `${of.length} of ${at.length} platforms`;
  const leads = (of) => of.map((one) => behind(one.group)).filter((by) => by !== null);
  const by = (of) => {
    const all = leads(of);
    if (all.length === 0) return "";
    const [least, most] = [Math.min(...all), Math.max(...all)].map(ratio);
    return ` (${least === most ? least : `${least} to ${most}`} times ahead of the second)`;
  };
  const changing = at.filter((one) => one.changes).length;
  const ranks = distinct(at.map((one) => one.group.ranks));
  return `At ${ranks.length === 1 ? `P = ${ranks[0]}` : "the largest P of each platform"} ` +
    `${join(kinds.slice(0, 4).map(({ label, of }, i) => `${labels[label]} ${i === 0 ? `${phrases.is} ` : ""}on ${where(of)}${by(of)}`))}` +
    `${kinds.length > 4 ? `, and ${kinds.length - 4} others elsewhere` : ""}.` +
    (changing > 0 ? ` It is another scheme at fewer ranks on ${changing} of ${at.length}.` : "");
}

const ofSchemes = (points, labels, places, phrases) => points.length === 0 ? ""
  : distinct(points.map((p) => p.place)).length === 1 ? ofOnePlace(points, labels, phrases) : ofPlaces(points, labels, places, phrases);

const kTime = { is: "is the fastest", value: seconds, ahead: (by, second) => `it is ${by} times as fast as ${second}`,
  close: (second) => `it is less than 5% faster than ${second}` };
export const sayTime = (points, labels, places) => ofSchemes(points, labels, places, kTime);

const kVolume = { is: "sends the least", value: (count) => `${words(count)} words`, ahead: (by, second) => `${second} sends ${by} times as much`,
  close: (second) => `${second} sends less than 5% more` };
export const sayVolume = (points, labels, places) => ofSchemes(points, labels, places, kVolume);

export function sayCongestion(points, labels, places) {
  if (points.length === 0) return "";
  const worst = points.reduce((most, p) => p.value > most.value ? p : most);
  if (worst.value < 1.02) return "Congestion slows no scheme by more than 2%.";
  const several = distinct(points.map((p) => p.place)).length > 1;
  const calm = distinct(points.map((p) => p.label)).filter((label) => points.every((p) => p.label !== label || p.value < kClose)).map((label) => labels[label]);
  return `Congestion costs ${labels[worst.label]} the most: ${ratio(worst.value)} times the time without it, at P = ${worst.ranks}${several ? ` on ${places[worst.place]}` : ""}.` +
    (calm.length > 0 ? ` It costs ${calm.length > 4 ? `${calm.length} schemes` : join(calm)} less than 5% everywhere.` : "");
}

/** Of the points of one number of ranks. */
export function sayBreakdown(points, labels, places) {
  const timed = points.filter((p) => p.value > 0);
  if (timed.length === 0) return "";
  const fastest = timed.reduce((least, p) => p.value < least.value ? p : least);
  const sum = fastest.parts.reduce((all, [, time]) => all + time, 0);
  const [part, time] = fastest.parts.reduce((most, one) => one[1] > most[1] ? one : most);
  const several = distinct(points.map((p) => p.place)).length > 1;
  const alone = distinct(points.map((p) => p.label)).length === 1;
  return `At P = ${fastest.ranks} ${labels[fastest.label]}${alone ? "" : ", the fastest,"} spends ${percent(time / (sum || 1))} of its time in ${part}${several ? ` on ${places[fastest.place]}` : ""}.`;
}

/** Of the winners of cells. */
export function sayCrossover(cells, labels) {
  const count = (label) => cells.filter((c) => c.label === label).length;
  const kinds = distinct(cells.map((c) => c.label)).sort((a, b) => count(b) - count(a));
  const close = cells.filter((c) => c.lead !== null && c.lead < kClose).length;
  const shown = kinds.slice(0, 4).map((label, i) => `${labels[label]} ${i === 0 ? `is the fastest in ${count(label)} of ${cells.length} cells` : `in ${count(label)}`}`);
  return `${join([...shown, ...(kinds.length > 4 ? [`others in ${cells.length - kinds.slice(0, 4).reduce((sum, label) => sum + count(label), 0)}`] : [])])}.` +
    (close > 0 ? ` In ${close} the second is less than 5% slower.` : "");
}

/** Of measured rows. */
export function sayMeasured(rows) {
  const off = rows.filter((r) => r.measured_s > 0 && r.simulated_s > 0)
    .map((r) => ({ r, by: Math.max(r.measured_s / r.simulated_s, r.simulated_s / r.measured_s) - 1 })).sort((a, b) => a.by - b.by);
  if (off.length === 0) return "";
  const { r, by } = off[off.length - 1];
  return `Half of the ${off.length} simulated times are within ${percent(off[Math.floor((off.length - 1) / 2)].by)} of the measured ones; the farthest is ${percent(by)} off, ${r.algorithm}.`;
}

/** Of curves of trainings. */
export function sayAccuracy(curves) {
  const ended = curves.filter((c) => c.points.length > 0).map((c) => ({ ...c, last: c.points[c.points.length - 1] }));
  if (ended.length === 0) return "";
  const best = ended.reduce((most, c) => c.last.accuracy > most.last.accuracy ? c : most);
  const near = ended.filter((c) => c.setting === best.setting && c.place === best.place)
    .map((c) => ({ c, at: c.points.find((p) => p.accuracy >= best.last.accuracy - 0.01) })).filter((one) => one.at).sort((a, b) => a.at.time_s - b.at.time_s)[0];
  return `${best.label} ends with the highest accuracy, ${text(100 * best.last.accuracy, 3)}% (${best.setting}); ` +
    `${near.c.label === best.label ? "it is also the first" : `${near.c.label} is the first`} within one point of it, after ${seconds(near.at.time_s)} at ${best.place}.`;
}

export function sayLinks(map) {
  if (map.hottest.length === 0) return "";
  const [name, , , mean, peak] = map.hottest[0];
  return `The busiest link, ${name}, is used to ${text(100 * mean, 3)}% on average, and to ${text(100 * peak, 3)}% at its peak.`;
}
