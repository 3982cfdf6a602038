// One Chromium for all tests of a file; each visitor has a context of their own.

import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";

export function launch() {
  const executablePath = execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// A visitor: a browser context whose every request and complaint is noted.
export async function visit(browser, options = {}) {
  const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(10_000);
  const requests = [];
  const complaints = [];
  context.on("request", (request) => requests.push(request.url()));
  context.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  context.on("weberror", (error) => complaints.push(String(error.error())));
  return { context, requests, complaints };
}
