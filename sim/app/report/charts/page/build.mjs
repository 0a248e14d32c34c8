// Bundles the page into one file: node build.mjs SOURCES OUTPUT, in a folder with node_modules.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [sources, output] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "package.json"));
const esbuild = require("esbuild");

const bundle = (entry) => esbuild.buildSync({
  entryPoints: [join(sources, entry)], bundle: true, minify: true, write: false, format: entry.endsWith(".css") ? undefined : "iife",
  target: ["chrome110", "firefox115", "safari16"], charset: "utf8", legalComments: "none", logLevel: "warning",
  nodePaths: [join(process.cwd(), "node_modules")],
}).outputFiles[0].text.trim();

const parts = { STYLE: bundle("style.css"), SCRIPT: bundle("main.js") };
let page = readFileSync(join(sources, "template.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} would end its element`);
  page = page.replace(`/*${name}*/`, () => text);
}
if (page.split("/*DATA*/").length !== 2) throw new Error("the page has not one place for its data");
writeFileSync(output, page);
