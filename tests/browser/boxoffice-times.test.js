import assert from "node:assert/strict";
import { WIDE, charge, come, holds, seatsShown } from "./buyer.js";
import { open, story } from "./given.js";

const EVENING = { "en-US": /^7:00\sPM \(Seoul time, UTC\+9\)$/, "ko-KR": /^오후\s7:00 \(서울 시간, UTC\+9\)$/ };
const DAY = { "en-US": /day, \d+ [A-Z][a-z]+ 20\d\d$/, "ko-KR": /^20\d\d년 \d+월 \d+일 .요일$/ };

const times = (page) => page.$$eval("time", (all) => all.map((time) => time.textContent));

// What a buyer of this time zone reads of the times of a concert in Seoul.
async function reads(visitor, server, timezoneId, locale) {
  const person = await visitor({ timezoneId, locale });
  const page = await open(person, `${server.url}/`);
  const home = await times(page);
  const labels = await page.$$eval(".date a", (links) => links.map((link) => link.getAttribute("aria-label")));
  await page.close();
  const hall = await come(person, server, "Kim");
  await seatsShown(hall);
  const inside = await times(hall);
  await charge(hall, 150_000);
  await hall.locator("#map .seat-free").first().click();
  await holds(hall, 1);
  await hall.click(".hold .pay");
  await hall.waitForURL(/\/receipt\/\d+$/);
  const [concert] = await times(hall);
  return { home, labels, inside, concert };
}

story("a buyer abroad reads the time at the venue, as a buyer there does", WIDE, async ({ server, visitor }) => {
  for (const locale of ["en-US", "ko-KR"]) {
    const there = await reads(visitor, server, "Asia/Seoul", locale);
    for (const zone of ["America/Los_Angeles", "Pacific/Auckland"]) {
      assert.deepEqual(await reads(visitor, server, zone, locale), there, `${zone}, ${locale}`);
    }
    const [day, time] = there.home;
    assert.match(day, DAY[locale]);
    assert.match(time, EVENING[locale]);
    assert.equal(there.labels.length, 3);
    for (const told of [...there.labels, ...there.inside, there.concert]) assert.ok(told.includes(time), told);
  }
});
