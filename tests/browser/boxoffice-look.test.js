import assert from "node:assert/strict";
import { WIDE, come, holds, seat, seatsShown } from "./buyer.js";
import { open, story, violations } from "./given.js";

story("the plain pages need no script, and the seats say that they do", WIDE, async ({ server, visitor }) => {
  const page = await come(await visitor({ javaScriptEnabled: false, locale: "ko-KR" }), server, "김지영");
  await page.waitForURL(/\/tickets\/\d+$/);
  assert.match(await page.textContent("noscript, main"), /좌석을 고르려면 자바스크립트가 필요해요/);
  await page.goto(`${server.url}/`);
  assert.match(await page.textContent(".account"), /김지영님/);
});

for (const [locale, colorScheme] of [["en-US", "light"], ["ko-KR", "dark"]]) {
  story(`every page is accessible and fits a phone (${locale}, ${colorScheme})`, WIDE, async ({ server, visitor }) => {
    const person = await visitor({ locale, colorScheme, reducedMotion: "reduce", viewport: { width: 360, height: 740 } });
    const page = await open(person, `${server.url}/`);
    const check = async (name) => {
      assert.deepEqual(await violations(page), [], name);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} fits`);
    };
    await check("home");
    await page.click(".date a");
    await check("name");
    await page.fill("#name", "A name of many words and many more of them, up to what a name may be, and then it ends here");
    await page.click(".login button");
    await seatsShown(page);
    await check("seats");
    const wide = await page.$eval("#map [role=gridcell]", (cell) => cell.getBoundingClientRect().width);
    assert.ok(wide >= 24, `a finger hits a seat of ${wide}`);
    const top = () => page.$eval("#map", (map) => map.getBoundingClientRect().top + scrollY);
    const before = await top();
    await seat(page, 12).click();
    await holds(page, 1);
    assert.ok(Math.abs((await top()) - before) < 1, "what is said moves no seat from under the finger");
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
    const complaints = person.complaints.filter((line) => !line.startsWith("Failed to load resource"));
    assert.deepEqual(complaints, [], "no complaint of the browser");
  });
}
