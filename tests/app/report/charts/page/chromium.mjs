// The report's page in headless Chromium: node chromium.mjs PROGRAM SOURCES MODULES [SCREENSHOTS].
// Exit code 77 where there is no Chromium, or none that starts and stays alive. CHROMIUM names another.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [program, sources, modules, screenshots] = process.argv.slice(2).map((path) => resolve(path));
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.log(`skipped: there is no ${executablePath} (Debian: chromium)`);
  process.exit(77);
}
process.env.TMPDIR = "/tmp";  // Chromium's sockets are in it, and their paths must be short
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const folder = mkdtempSync(join(tmpdir(), "thinwire-report-"));
const results = (name) => join(sources, "results", name, `${name}.jsonl`);
const thinwire = (...given) => execFileSync(program, given, { encoding: "utf8", maxBuffer: 1e9 });

/** About 500 rows of three sweeps, 7 platforms, 2 networks, 3 profiles; and links, claims, measured times, a failed row. */
function fixture() {
  const links = join(folder, "links.jsonl");
  writeFileSync(links, thinwire("run", "--scheme", "topka", "-P", "16", "-n", "100000", "--network", "smpi", "--platform", "fat_tree", "--links", "--format", "jsonl"));
  const failed = JSON.parse(readFileSync(links, "utf8"));
  Object.assign(failed, { status: "failed", reason: "the rank </script><b>died</b>", result: null });
  writeFileSync(join(folder, "failed.jsonl"), `${JSON.stringify(failed)}\n`);
  const files = [results("platforms"), results("profiles"), results("table1"), links, join(folder, "failed.jsonl")];
  const rows = files.flatMap((f) => readFileSync(f, "utf8").trim().split("\n")).length;
  const measured = readFileSync(join(sources, "results/measured/data/collectives.csv"), "utf8").split("\n");
  const few = measured.filter((line, i) => i === 0 || line.startsWith("lumi,2025_04_07___16_22_51"));
  writeFileSync(join(folder, "few.csv"), `${few.join("\n")}\n`);
  thinwire("validate", "--measured", join(folder, "few.csv"), "-o", join(folder, "measured"));
  thinwire("report", ...files, results("claims"), join(sources, "results/training/trainings.jsonl"), join(folder, "measured", "validation.jsonl"), "-o", join(folder, "report.html"));
  return rows;
}

const checks = {};
let browser;
let page;
const problems = [];
const requests = [];
const kPatience = 60_000;  // ms
const kAttempts = 2;  // a loaded machine delays what a person would wait for
const count = (selector) => page.locator(selector).count();

async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  page = await context.newPage();
  page.setDefaultTimeout(kPatience);
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) requests.push(request.url()); });
  const begin = performance.now();
  await page.goto(pathToFileURL(join(folder, file)).href);
  await page.waitForSelector("#time svg");
  return performance.now() - begin;
}

checks["a report of 500 rows opens, and is under 3 MB"] = async (rows) => {
  assert.ok(rows >= 490, `${rows} rows`);
  const bytes = statSync(join(folder, "report.html")).size;
  assert.ok(bytes < 3e6, `${bytes} bytes`);
  const ms = await open("report.html");
  console.log(`  ${rows} rows, ${bytes} bytes, ${ms.toFixed(0)} ms`);
};

checks["every figure is drawn"] = async () => {
  for (const [id, mark] of [["time", "g.point path, g.point circle"], ["volume", "g.point path"], ["breakdown", "g.bar rect"], ["congestion", "g.point path"],
    ["crossover", "g.cell rect"], ["links", "g.link path"], ["claims", "tbody tr"], ["measured", "g.point path"], ["accuracy", "g.accuracy path"], ["troubles", "tbody tr"]]) {
    assert.ok(await count(`#${id} ${mark.split(", ")[0]}`) > 2, id);
  }
};

/** The chips of more than a few schemes or platforms are behind a button. */
async function openChips() {
  const closed = page.locator("button.choose[aria-expanded=false]");
  while (await closed.count() > 0) await closed.first().click();
}

checks["each chart has a sentence above it, and every tick of its axes a text"] = async () => {
  for (const id of ["time", "volume", "breakdown", "congestion", "crossover", "links", "measured", "accuracy"]) {
    assert.match(await page.locator(`#${id} p.says`).innerText(), /^.{20,}\.$/s, id);
  }
  const blank = await page.evaluate(() => [...document.querySelectorAll("#figures svg g[aria-label$='tick label'] text")].filter((t) => t.textContent === "").length);
  assert.equal(blank, 0);
};

checks["schemes that are many take one line above the first chart"] = async () => {
  assert.equal(await page.locator("fieldset.label .chip:visible").count(), 0);
  assert.match(await page.locator("fieldset.label button.choose").innerText(), /^10 of \d+ shown/);
  await openChips();
  assert.ok(await page.locator("fieldset.label .chip:visible").count() > 10);
};

checks["filters take schemes and platforms out of all figures, and put them in again"] = async () => {
  // More than ten schemes are not all shown at first.
  await page.getByRole("button", { name: "all" }).last().click();
  const before = { points: await count("#time g.point path"), panels: await count("#time .panel") };
  await page.locator("input[name=label]:checked").first().dispatchEvent("click");
  assert.ok(await count("#time g.point path") < before.points);
  await page.locator("input[name=place]").first().dispatchEvent("click");
  assert.equal(await count("#time .panel"), before.panels - 1);
  await page.getByRole("button", { name: "none" }).last().click();
  assert.equal(await count("#time"), 0);
  await page.getByRole("button", { name: "all" }).last().click();
  await page.locator("input[name=place]").first().dispatchEvent("click");
  assert.deepEqual({ points: await count("#time g.point path"), panels: await count("#time .panel") }, before);
};

checks["settings are chosen, and never mixed into one curve"] = async () => {
  const names = await page.locator("select[name=setting] option").allTextContents();
  assert.ok(names.length >= 8, names.join("\n"));
  const twice = await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    return data.curves.filter((c) => new Set(c.points.map((p) => p.ranks)).size !== c.points.length).length;
  });
  assert.equal(twice, 0);
  const first = await page.locator("#time").innerHTML();
  await page.locator("select[name=setting]").selectOption({ index: names.length - 2 });
  assert.notEqual(await page.locator("#time").innerHTML(), first);
};

checks["a tooltip says what a point is"] = async () => {
  await page.locator("select[name=setting]").selectOption({ index: 0 });
  const point = page.locator("#time .panel").first().locator("g.point path").first();
  await point.scrollIntoViewIfNeeded();
  const box = await point.boundingBox();
  await page.mouse.move(box.x + box.width / 2 + 3, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => document.querySelector("#time .panel g[aria-label=tip]")?.textContent.includes("P = "));
};

checks["what failed is listed with its reason, as text"] = async () => {
  const text = await page.locator("#troubles").innerText();
  assert.ok(text.includes("the rank </script><b>died</b>"), text.slice(0, 500));
  assert.ok(text.includes("skipped"));
};

checks["the table of all results opens"] = async () => {
  await page.locator("#results summary").click();
  assert.ok(await count("#results tbody tr") > 20);
};

checks["nothing is wider than a narrow screen, and no labels of an axis overlap"] = async () => {
  for (const width of [1280, 700, 380]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(400);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide at ${width}`);
    const overlaps = await page.evaluate(() => [...document.querySelectorAll("#figures svg g[aria-label$='tick label']")].flatMap((axis) => {
      const boxes = [...axis.querySelectorAll("text")].map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
      return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.box.left < b.box.right - 1 && b.box.left < a.box.right - 1 &&
        a.box.top < b.box.bottom - 2 && b.box.top < a.box.bottom - 2).map((b) => `${axis.closest("section").id}: ${a.text} | ${b.text}`));
    }));
    assert.deepEqual(overlaps, []);
  }
};

checks["it is readable in the dark, and in print"] = async () => {
  const luminance = () => page.evaluate(() => {
    const rgb = (property) => getComputedStyle(document.body)[property].match(/\d+/g).slice(0, 3).map(Number);
    const of = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
    return { paper: of(rgb("backgroundColor")), ink: of(rgb("color")) };
  });
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await luminance();
  assert.ok(dark.ink - dark.paper > 150, JSON.stringify(dark));
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  const print = await luminance();
  assert.ok(print.paper - print.ink > 200, JSON.stringify(print));
  assert.ok(!await page.locator("#controls select").first().isVisible());
  assert.ok(await page.locator("label.chip:has(input[name=label])").first().isVisible(), "the legend");
  assert.ok((await page.locator("#shown").innerText()).includes("Setting: "));
};

checks["28 schemes differ in colour or symbol, and every symbol has pixels of its colour"] = async () => {
  thinwire("report", results("congestion"), "-o", join(folder, "congestion.html"));
  await open("congestion.html");
  // The shape of a mark, whatever its size: those on which others lie are larger.
  await page.evaluate(() => { window.shapeOf = (mark) => {
    if (mark.getAttribute("d").includes("A")) return "circle";
    const numbers = mark.getAttribute("d").match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    const most = Math.max(...numbers.map(Math.abs));
    return mark.getAttribute("d").replace(/[^A-Za-z]/g, "") + numbers.map((n) => Math.round(20 * n / most)).join(" ");
  }; });
  const shown = () => page.evaluate(() =>
    new Set([...document.querySelectorAll("#time g.point path")].map((mark) => getComputedStyle(mark).fill + window.shapeOf(mark))).size);
  assert.equal(await shown(), 10);
  const colours = await page.evaluate(() => new Set([...document.querySelectorAll("#time g.point path")].map((mark) => getComputedStyle(mark).fill)).size);
  assert.equal(colours, 10, "the series that are shown at first differ in colour");
  const overlaps = () => page.evaluate(() => [...document.querySelectorAll("#time svg, #volume svg, #congestion svg")].flatMap((chart) => {
    const boxes = [...chart.querySelectorAll("g.direct text")].map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.box.top + 3 < b.box.bottom - 3 && b.box.top + 3 < a.box.bottom - 3).map((b) => `${a.text} | ${b.text}`));
  }));
  for (const id of ["time", "volume", "congestion"]) assert.ok(await count(`#${id} g.direct text`) >= 10, `the series of ${id} are named beside their last points`);
  assert.deepEqual(await overlaps(), []);
  await openChips();
  await page.locator("fieldset.label button", { hasText: /^all$/ }).click();
  assert.ok(await shown() > 10);
  assert.deepEqual(await overlaps(), [], "names of series overlap");
  // The thin dashed lines of series without a formula are left out.
  const lines = await page.evaluate(() => [...document.querySelector("#time .panel").querySelectorAll("g[aria-label=line] path")]
    .map((line) => `${getComputedStyle(line).stroke} ${getComputedStyle(line).strokeDasharray}`).filter((look) => !/ 4px, 3px$/.test(look)));
  assert.ok(lines.length > 0);
  assert.equal(new Set(lines).size, lines.length, "lines of one colour differ in their dashes");
  const kSide = 20;
  // A mark of each series, drawn once more beside each other, so that none hides another.
  const series = await page.evaluate((side) => {
    const row = document.querySelector("#time .panel svg").cloneNode(false);
    for (const [name, value] of [["width", 40 * side], ["height", side], ["viewBox", `0 0 ${40 * side} ${side}`]]) row.setAttribute(name, value);
    row.style.cssText += "position:fixed;left:0;top:0;z-index:9;max-width:none;background:var(--panel)";
    const marks = new Map();
    for (const mark of document.querySelectorAll("#time g.point path")) marks.set(`${getComputedStyle(mark).fill} ${window.shapeOf(mark)}`, mark);
    const colours = [...marks.values()].map((mark, i) => {
      const group = mark.parentNode.cloneNode(false);
      const copy = mark.cloneNode(true);
      copy.setAttribute("transform", `translate(${(i + 0.5) * side},${side / 2})`);
      group.removeAttribute("transform");
      group.append(copy);
      row.append(group);
      return getComputedStyle(mark).fill.match(/\d+/g).slice(0, 3).map(Number);
    });
    document.querySelector("#time .panel").append(row);
    return colours;
  }, kSide);
  const labels = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).labels.length);
  assert.ok(labels >= 27, `${labels} schemes`);
  assert.equal(series.length, labels);
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width: kSide * series.length, height: kSide } });
  const pixels = await page.evaluate(async ([url, colours, side]) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const context = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }).getContext("2d");
    context.drawImage(image, 0, 0);
    return colours.map((colour, i) => {
      const { data } = context.getImageData(i * side, 0, side, side);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) count += colour.every((c, j) => Math.abs(c - data[at + j]) <= 4) ? 1 : 0;
      return count;
    });
  }, [`data:image/png;base64,${picture.toString("base64")}`, series, kSide]);
  assert.ok(pixels.every((n) => n >= 12), `pixels of each series: ${pixels}`);
  console.log(`  ${labels} schemes, at least ${Math.min(...pixels)} pixels each`);
};

checks["the charts of a single platform are beside each other"] = async () => {
  thinwire("report", results("table1"), "-o", join(folder, "table1.html"));
  await open("table1.html", { viewport: { width: 1400, height: 900 } });
  const boxes = await page.evaluate(() => [...document.querySelectorAll("#time svg, #volume svg")].map((svg) => {
    const { left, right } = svg.closest(".panel").getBoundingClientRect();
    return { left, right };
  }));
  assert.equal(boxes.length, 2);
  assert.ok(boxes[1].left > boxes[0].right, JSON.stringify(boxes));
  assert.ok(boxes[1].right > 0.9 * 1400, JSON.stringify(boxes));
  await page.setViewportSize({ width: 420, height: 900 });
  await page.waitForTimeout(400);
  assert.ok(await page.locator("#time .key span").count() >= 8, "what the colours mean, where no names are beside the lines");
};

checks["no request left the page, and nothing complained"] = async () => {
  assert.deepEqual(requests, []);
  assert.deepEqual(problems, []);
};

async function shoot(name, options) {
  await open("report.html", options);
  if (name === "print") await page.pdf({ path: join(screenshots, "print.pdf"), format: "A4" });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}

/** A browser, or null where none starts. */
async function launch() {
  try {
    return await chromium.launch({ executablePath, headless: true, timeout: 2 * kPatience, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"] });
  } catch (error) {
    console.log(`Chromium does not start: ${String(error.message).slice(0, 2000)}`);
    return null;
  }
}

/** How many checks failed; null where the browser did not live to the end of them. */
async function attempt(rows) {
  browser = await launch();
  if (browser === null) return null;
  problems.length = 0;
  requests.length = 0;
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(rows);
      console.log(`ok: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED: ${name}\n  ${String(error.message).slice(0, 1000)}`);
    }
    if (!browser.isConnected()) return null;
  }
  return failed;
}

let failed = null;
try {
  const rows = fixture();
  for (let i = 0; i < kAttempts && failed !== 0; ++i) {
    await browser?.close();
    failed = await attempt(rows);
  }
  if (screenshots && failed !== null) {
    await shoot("light", {});
    await shoot("dark", { colorScheme: "dark" });
    await shoot("narrow", { viewport: { width: 380, height: 800 } });
    await shoot("print", {});
  }
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
if (failed === null) console.log("skipped: Chromium does not run here");
process.exit(failed === null ? 77 : Math.min(failed, 1));
