// Text at twice its size on a phone: nothing is wider than the screen (WCAG 1.4.4).

import assert from "node:assert/strict";
import { WIDE, holds, seat, seatsShown } from "./buyer.js";
import { doubleText, fits, open, sees, story, token } from "./given.js";

const FULL = '[rooms.main]\nactive_max = 1\nwaiting_max = 1\npass_ttl = "60s"\npresence_ttl = "60s"\n';
const PHONE = { viewport: { width: 390, height: 844 } };

// A page with large text, and a check that it has it and fits.
async function large(person, url) {
  const page = await open(person, "about:blank");
  await doubleText(page);
  await page.goto(url);
  const check = async (name) => {
    const size = await page.evaluate(() => getComputedStyle(document.documentElement).fontSize);
    assert.equal(size, "32px", name);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(await fits(page), `${name} is ${width} px wide`);
  };
  return { page, check };
}

for (const locale of ["ko-KR", "en-US"]) {
  story(`every state of the waiting page fits at twice the text (${locale})`, FULL, async ({ server, visitor }) => {
    const inside = await server.join();
    const person = await visitor({ locale, ...PHONE });
    const { page, check } = await large(person, server.url);
    assert.equal(await page.locator('.rooms a[href="/wait/main#join"]').count(), 1, "the list of rooms");
    await check("rooms");
    await page.goto(`${server.url}/wait/main`);
    await sees(page, "waiting");
    await check("waiting");
    for (const [ahead, className] of [["99,999", ""], ["4,999,999", "long"]]) {
      await page.$eval("#ahead", (shown, values) => ([shown.textContent, shown.className] = values), [ahead, className]);
      await check(`${ahead} ahead`);
    }
    await page.click("#leave");
    await check("leave?");
    await page.keyboard.press("Escape");
    const late = await large(await visitor({ locale, ...PHONE }), `${server.url}/wait/main`);
    await sees(late.page, "refused");
    await late.check("refused");
    await server.leave(inside.token);
    await sees(page, "admitted");
    await check("admitted");
    await server.leave(await token(person));
    await page.reload();
    await sees(page, "ended");
    await check("ended");
    for (const path of ["/wait/nowhere", "/nothing", "/problems/ROOM_FULL", "/admin"]) {
      await page.goto(server.url + path);
      await check(path);
    }
  });

  story(`every page of the box office fits at twice the text (${locale})`, WIDE, async ({ server, visitor }) => {
    const person = await visitor({ locale, ...PHONE });
    const { page, check } = await large(person, `${server.url}/`);
    await check("home");
    await page.click(".date a");
    await check("name");
    await page.fill("#name", "A name of many words and many more of them, up to what a name may be, and then it ends here");
    await page.click(".login button");
    await seatsShown(page);
    await check("seats");
    await seat(page, 12).click();
    await holds(page, 1);
    await check("held");
    await page.click(".hold .pay");
    await page.waitForSelector("#charging[open]");
    await check("charging");
    await page.click("#charge-go");
    await page.waitForSelector("#charging:not([open])", { state: "attached" });
    await page.click(".hold .pay");
    await page.waitForURL(/\/receipt\/\d+$/);
    await check("receipt");
    await page.goto(`${server.url}/`);
    await check("home with tickets");
    await page.goto(`${server.url}/tickets/999`);
    await check("no such date");
  });
}
