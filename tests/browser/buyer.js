// What a buyer does and sees on the pages of the box office.

import assert from "node:assert/strict";
import { open } from "./given.js";

// Passes that outlast a test, one inside at a time.
export const BANK_COUNTER = '[boxoffice]\n[rooms.main]\nactive_max = 1\nevery = "100ms"\npass_ttl = "60s"\npresence_ttl = "3s"\n';
const ROOM = '[rooms.main]\nactive_max = 100\nevery = "100ms"\npass_ttl = "60s"\npresence_ttl = "60s"\n';
export const WIDE = `[boxoffice]\n${ROOM}`;
export const SHORT_HOLDS = `${ROOM}[boxoffice]\nhold_ttl = "5s"\n`;

// Somebody who comes to the first date by the home page, up to where the line begins.
export async function come(person, server, name) {
  const page = await open(person, `${server.url}/`);
  await page.click(".date a");
  await page.fill("#name", name);
  await page.click(".login button");
  return page;
}

export const seatsShown = (page) => page.waitForSelector("#map:not([hidden])");
export const seat = (page, number) => page.locator("#map [role=gridcell]", { hasText: new RegExp(`^${number}$`) });
export const nameOf = (page, number) => page.getAttribute(`#map [role=gridcell] >> nth=${number - 1}`, "aria-label");
export const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
export const holds = (page, count) => page.waitForFunction((n) => document.querySelectorAll(".hold").length === n, count);
export const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

// Goes from the top of the page to the seats by Tab alone.
export async function tabToSeats(page) {
  for (let n = 0; n < 20; n += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.getAttribute("role") === "gridcell")) return;
  }
  assert.fail("the seats cannot be reached by Tab");
}

export async function charge(page, amount) {
  await page.click("#charge");
  await page.fill("#own", String(amount));
  await page.click("#charge-go");
  await page.waitForSelector("#charging:not([open])", { state: "attached" });
}

// What somebody has, by the word of the box office.
export async function account(person, server, user) {
  const answer = await person.context.request.get(`${server.url}/user/${user}/point`);
  return (await answer.json()).balance;
}
