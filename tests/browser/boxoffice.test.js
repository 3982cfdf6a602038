import assert from "node:assert/strict";
import { open, says, sees, story, text, violations } from "./given.js";

// Passes that outlast a test, one inside at a time.
const BANK_COUNTER = '[rooms.main]\nactive_max = 1\nevery = "100ms"\npass_ttl = "60s"\npresence_ttl = "3s"\n';
const SHORT_HOLDS = `${BANK_COUNTER}[boxoffice]\nhold_ttl = "3s"\n`;
const WIDE = '[rooms.main]\nactive_max = 100\nevery = "100ms"\npass_ttl = "60s"\npresence_ttl = "60s"\n';

// Somebody who comes to the first date by the home page, up to where the line begins.
async function come(person, server, name) {
  const page = await open(person, `${server.url}/`);
  await page.click(".date a");
  await page.fill("#name", name);
  await page.click(".login button");
  return page;
}

const seatsShown = (page) => page.waitForSelector("#map:not([hidden])");
const seat = (page, number) => page.locator("#map [role=gridcell]", { hasText: new RegExp(`^${number}$`) });
const nameOf = (page, number) => page.getAttribute(`#map [role=gridcell] >> nth=${number - 1}`, "aria-label");
const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
const holds = (page, count) => page.waitForFunction((n) => document.querySelectorAll(".hold").length === n, count);
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

// Goes from the top of the page to the seats by Tab alone.
async function tabToSeats(page) {
  for (let n = 0; n < 20; n += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.getAttribute("role") === "gridcell")) return;
  }
  assert.fail("the seats cannot be reached by Tab");
}

async function charge(page, amount) {
  await page.click("#charge");
  await page.fill("#own", String(amount));
  await page.click("#charge-go");
  await page.waitForSelector("#charging:not([open])", { state: "attached" });
}

// What the box office has sold and what people have, by its own word.
async function account(person, server, user) {
  const answer = await person.context.request.get(`${server.url}/user/${user}/point`);
  return (await answer.json()).balance;
}

story("from the home page through the line to the receipt, by keyboard, and the next is let in", BANK_COUNTER, async ({ server, visitor }) => {
  const [first, second, third] = [await visitor(), await visitor(), await visitor()];
  const seller = await come(first, server, "First");
  await seatsShown(seller);
  const waiting = await come(second, server, "Second");
  await sees(waiting, "waiting");
  assert.equal(await text(waiting, "ahead"), "Next");
  const last = await come(third, server, "Third");
  await sees(last, "waiting");
  assert.equal(await text(last, "ahead"), "1");

  await tabToSeats(seller);
  assert.match(await focused(seller), /^Seat 1, 150,000 points, free$/);
  await press(seller, "ArrowRight", "ArrowDown", "End", "Home", "ArrowRight", "Enter");
  await holds(seller, 1);
  assert.match(await focused(seller), /^Seat 12, 125,000 points, held for you$/);
  assert.match(await text(seller, "notice"), /^Seat 12 is held for you. You have 5 minutes to pay./);
  assert.match(await seller.textContent(".hold-left"), /^(5:00|4:5\d)$/);

  await seller.focus(".hold .pay");
  await press(seller, "Enter");
  await seller.waitForSelector("#charging[open]");
  assert.match(await text(seller, "missing"), /^You have 0 points. Seat 12 costs 125,000, so 125,000 are missing.$/);
  await press(seller, "Enter");
  await says(seller, "notice", /200,000 points were charged. You have 200,000 now. Now you can pay for seat 12./);
  assert.match(await focused(seller), /^Pay 125,000 points for seat 12$/, "charging leads back to paying");
  assert.equal((await server.room()).active, 1);
  await press(seller, "Enter");
  await seller.waitForURL(/\/receipt\/\d+$/);

  await sees(waiting, "admitted");
  await seatsShown(waiting);
  assert.match(await nameOf(waiting, 12), /^Seat 12, 125,000 points, sold$/);
  await says(last, "ahead", /^Next$/);
  const receipt = await seller.textContent(".receipt");
  for (const said of ["Ropeline Live", "125,000 points", "75,000 points", "First"]) assert.ok(receipt.includes(said), said);
  const strangers = first.requests.filter((url) => !url.startsWith(`${server.url}/`));
  assert.deepEqual(strangers, [], "no request to anybody else");
});

story("whoever leaves the line and joins again is the same buyer, and waits once", BANK_COUNTER, async ({ server, visitor }) => {
  const inside = await server.join();
  const page = await come(await visitor(), server, "Kim");
  await sees(page, "waiting");
  await page.click("#leave");
  await page.click('#sure button[value="leave"]');
  await sees(page, "ended");
  await page.click("#again");
  await sees(page, "waiting");
  const { issued } = await server.room();
  await server.leave(inside.token);
  await seatsShown(page);
  assert.equal((await server.room()).issued, issued, "no second wait");
  await seat(page, 3).click();
  await holds(page, 1);
});

story("what others take is seen without a reload, and a seat lost by a moment keeps the focus", WIDE, async ({ server, visitor }) => {
  const [one, other] = [await visitor(), await visitor()];
  const mine = await come(one, server, "One");
  const theirs = await come(other, server, "Other");
  await Promise.all([seatsShown(mine), seatsShown(theirs)]);
  await seat(theirs, 7).click();
  await holds(theirs, 1);
  await mine.waitForFunction(() => document.querySelectorAll("#map .seat-held").length === 1);
  assert.match(await nameOf(mine, 7), /held by somebody else$/);
  await mine.route("**/seats", (route) => route.abort());
  await seat(theirs, 8).click();
  await holds(theirs, 2);
  await seat(mine, 8).click();
  await says(mine, "notice", /^Seat 8 was taken just now by somebody else/);
  assert.match(await focused(mine), /^Seat 8, 150,000 points, held by somebody else$/);
  await says(mine, "notice", /No connection right now/);
  await mine.unroute("**/seats");
  await says(mine, "notice", /Connected again/);
});

story("a double click is one hold and one payment, and a lost answer is asked for again", WIDE, async ({ server, visitor }) => {
  const person = await visitor();
  const page = await come(person, server, "Kim");
  await seatsShown(page);
  const { user } = await page.evaluate(() => ({ ...document.getElementById("hall").dataset }));
  await charge(page, 200_000);
  await seat(page, 41).dblclick();
  await holds(page, 1);
  const keys = [];
  await page.route("**/user-concert/payment/**", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  // The list that would tell of the payment is late too.
  await page.route("**/reservations", (route) => route.abort());
  await page.locator(".hold .pay").dblclick();
  await page.waitForSelector(".hold-note:not([hidden])");
  assert.match(await page.textContent(".hold-note"), /There was no answer. Please press Pay again/);
  assert.equal(keys.length, 1, "a double click is one payment");
  await page.click(".hold .pay");
  await page.waitForURL(/\/receipt\/\d+$/);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1], "the same key");
  assert.equal(await account(person, server, user), 150_000, "paid once");
});

story("a charge whose answer is lost is counted once", WIDE, async ({ server, visitor }) => {
  const person = await visitor();
  const page = await come(person, server, "Kim");
  await seatsShown(page);
  let lost = 0;
  await page.route("**/user/charge/**", async (route) => {
    lost += 1;
    if (lost > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await page.click("#charge");
  await page.fill("#own", "0");
  await page.click("#charge-go");
  await says(page, "charge-trouble", /whole number from 1/);
  await page.fill("#own", "70,000");
  await page.click("#charge-go");
  await says(page, "charge-trouble", /There was no answer/);
  await page.click("#charge-go");
  await says(page, "balance", /^70,000$/);
});

story("a hold that runs out says so, can still be paid while nobody has the seat, and not after", SHORT_HOLDS, async ({ server, visitor }) => {
  const person = await visitor();
  const page = await come(person, server, "Kim");
  await seatsShown(page);
  await charge(page, 500_000);
  await seat(page, 50).click();
  await seat(page, 49).click();
  await holds(page, 2);
  await page.waitForFunction(() => document.querySelectorAll(".hold.over").length === 2);
  assert.match(await page.textContent(".hold-note"), /nobody has taken the seat yet: you can still pay/);
  await page.locator(".hold .pay").first().click();
  await page.waitForURL(/\/receipt\/\d+$/);
  assert.match(await page.textContent(".receipt"), /50,000 points/);
});

story("nobody at the screen stops the asking, until somebody is", WIDE, async ({ server, visitor }) => {
  const person = await visitor();
  const page = await come(person, server, "Kim");
  await seatsShown(page);
  await page.clock.install();
  await page.reload();
  await seatsShown(page);
  const asked = () => person.requests.filter((url) => url.endsWith("/seats")).length;
  await page.clock.runFor(10_000);
  const before = asked();
  await page.clock.runFor(130_000);
  await page.waitForSelector("#still[open]");
  const stopped = asked();
  assert.ok(stopped > before, "it asked while somebody was there");
  await page.clock.runFor(60_000);
  assert.equal(asked(), stopped, "and then no more");
  await page.click("#still button");
  await page.waitForSelector("#still:not([open])", { state: "attached" });
  await page.clock.runFor(5_000);
  assert.ok(asked() > stopped, "and again");
});

story("whoever is put out keeps what they hold, and may line up again", WIDE, async ({ server, visitor }) => {
  const person = await visitor();
  const page = await come(person, server, "Kim");
  await seatsShown(page);
  await charge(page, 150_000);
  await seat(page, 1).click();
  await holds(page, 1);
  const { user } = await page.evaluate(() => ({ ...document.getElementById("hall").dataset }));
  await server.operate("DELETE", `main/visitors/${user}`);
  await page.waitForSelector("#outside:not([hidden])");
  assert.match(await text(page, "outside-why"), /what you hold can still be paid for/);
  await page.click(".hold .pay");
  await page.waitForURL(/\/receipt\/\d+$/);
  await page.goto(`${server.url}/`);
  assert.match(await page.textContent(".ticket"), /Seat 1/);
});

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
    const complaints = person.complaints.filter((line) => !line.startsWith("Failed to load resource"));
    assert.deepEqual(complaints, [], "no complaint of the browser");
  });
}
