// Bundles the page into one file: node build.mjs SOURCES OUTPUT, in a folder with node_modules.
import { createRequire } from "node:module";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [sources, output] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "package.json"));
const esbuild = require("esbuild");

const build = (entry) => esbuild.buildSync({
  entryPoints: [join(sources, entry)], bundle: true, minify: true, write: false, format: entry.endsWith(".css") ? undefined : "iife",
  target: ["chrome110", "firefox115", "safari16"], charset: "utf8", legalComments: "none", logLevel: "warning",
  nodePaths: [join(process.cwd(), "node_modules")], metafile: true,
});
const text = (built) => built.outputFiles[0].text.trim();

// The licences of the bundled packages, which ask to go with every copy: each text once.
const notices = (built) => {
  const inputs = Object.keys(built.metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  const packages = new Map();
  for (const name of [...new Set(inputs)].filter(Boolean).sort()) {
    const folder = join(process.cwd(), "node_modules", name);
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    if (!file) throw new Error(`${name} has no file with its licence`);
    const licence = readFileSync(join(folder, file), "utf8").trim();
    packages.set(licence, [...(packages.get(licence) ?? []), name]);
  }
  const all = [...packages].map(([licence, names]) => `${names.join(", ")}:\n${licence}`).join("\n\n");
  if (all.includes("*/")) throw new Error("a licence would end its comment");
  return `/* This page contains the following packages.\n\n${all}\n*/\n`;
};

const script = build("main.js");
const parts = { STYLE: text(build("style.css")), SCRIPT: notices(script) + text(script) };
let page = readFileSync(join(sources, "template.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} would end its element`);
  page = page.replace(`/*${name}*/`, () => text);
}
if (page.split("/*DATA*/").length !== 2) throw new Error("the page has not one place for its data");
writeFileSync(output, page);
