import assert from "node:assert/strict";
import { WIDE, charge, come, holds, seat, seatsShown } from "./buyer.js";
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

// How a color stands out from white paper, as WCAG measures it.
function contrasts() {
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\d.]+/g).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const seen = [...document.querySelectorAll(".receipt *")].filter((element) => element.checkVisibility());
  const text = seen.filter(({ children, textContent }) => children.length === 0 && textContent.trim());
  const dark = ({ color }) => 1.05 / (luminance(color) + 0.05);
  const cells = seen.filter((element) => element.matches(".figures > div"));
  return {
    text: text.map((element) => dark(getComputedStyle(element))),
    lines: cells.map((cell) => dark({ color: getComputedStyle(cell).borderTopColor })),
    widths: cells.map((cell) => parseFloat(getComputedStyle(cell).borderTopWidth)),
    ground: getComputedStyle(document.body).backgroundColor,
    scheme: getComputedStyle(document.documentElement).colorScheme,
  };
}

story("a receipt is printed dark on white from a dark browser, and says who sold it", WIDE, async ({ server, visitor }) => {
  const page = await come(await visitor({ colorScheme: "dark" }), server, "Kim");
  await seatsShown(page);
  await charge(page, 150_000);
  await seat(page, 1).click();
  await holds(page, 1);
  await page.click(".hold .pay");
  await page.waitForURL(/\/receipt\/\d+$/);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const printed = await page.evaluate(contrasts);
  assert.ok(printed.text.length > 14, `${printed.text.length} texts`);
  assert.ok(Math.min(...printed.text) >= 7, `pale text: ${printed.text}`);
  assert.ok(Math.min(...printed.lines) >= 4.5 && Math.min(...printed.widths) > 0, `pale lines: ${printed.lines}`);
  assert.equal(printed.ground, "rgba(0, 0, 0, 0)");
  assert.equal(printed.scheme, "light only");
  assert.ok(await page.isHidden(".actions"), "nothing to press on paper");
  const receipt = await page.textContent(".receipt");
  for (const said of ["Ropeline Hall, Seoul", "Seoul time", new URL(server.url).host]) assert.ok(receipt.includes(said), said);
});
