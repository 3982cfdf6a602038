// What the tests have in common: a server and a browser for each test, and words for what a visitor sees.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch, visit } from "./chromium.js";
import { Ropeline } from "./ropeline.js";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

// A test with a server of its own, stopped at its end.
export function story(name, settings, tell) {
  test(name, async () => {
    const server = await Ropeline.start(settings);
    const visitors = [];
    const given = {
      server,
      async visitor(options) {
        const visitor = await visit(browser, options);
        visitors.push(visitor);
        return visitor;
      },
    };
    try {
      await tell(given);
    } finally {
      for (const { context } of visitors) await context.close();
      await server.stop();
    }
  });
}

export async function open(visitor, url) {
  const page = await visitor.context.newPage();
  await page.goto(url);
  return page;
}

// Doubles the size of text by the browser's own setting, as people with weak eyes do.
export async function doubleText(page) {
  const debug = await page.context().newCDPSession(page);
  await debug.send("Page.enable");
  await debug.send("Page.setFontSizes", { fontSizes: { standard: 32, fixed: 26 } });
}

export const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

// Waits until the page shows one of its states.
export const sees = (page, state) => page.waitForSelector(`#wait[data-state="${state}"] #${state}:not([hidden])`);

export const text = (page, id) => page.textContent(`#${id}`);

// Waits until an element says something.
export async function says(page, id, wanted) {
  const matches = ([name, source]) => new RegExp(source).test(document.getElementById(name)?.textContent ?? "");
  await page.waitForFunction(matches, [id, wanted.source]);
}

// The token that a browser keeps.
export async function token({ context }, room = "main") {
  const cookies = await context.cookies();
  return cookies.find(({ name }) => name === `rl_${room}`)?.value;
}

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// What axe-core has against a page.
export async function violations(page) {
  // Through the debugger, so that the page's own policy stays as it is.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
