import assert from "node:assert/strict";
import { SHORT_HOLDS, WIDE, account, charge, come, holds, seat, seatsShown } from "./buyer.js";
import { says, story, text } from "./given.js";

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

story("charging less than the price says how much is missing, and charges the rest", WIDE, async ({ server, visitor }) => {
  const page = await come(await visitor(), server, "Kim");
  await seatsShown(page);
  await seat(page, 12).click();
  await holds(page, 1);
  await page.click(".hold .pay");
  await page.waitForSelector("#charging[open]");
  await page.fill("#own", "50,000");
  await page.click("#charge-go");
  await says(page, "notice", /^50,000 points were charged\. You have 50,000 now\. You need 75,000 more points to pay for seat 12\.$/);
  await page.waitForSelector("#charging[open]");
  assert.match(await text(page, "missing"), /^You have 50,000 points. Seat 12 costs 125,000, so 75,000 are missing.$/);
  assert.equal(await page.inputValue("#own"), "75,000");
  assert.equal(await page.evaluate(() => document.activeElement.id), "own");
  await page.click("#charge-go");
  await says(page, "notice", /^75,000 points were charged\. You have 125,000 now\. Now you can pay for seat 12\.$/);
  await page.waitForSelector("#charging:not([open])", { state: "attached" });
  await page.click(".hold .pay");
  await page.waitForURL(/\/receipt\/\d+$/);
});

story("a hold that runs out says so, and is paid for while nobody else has the seat", SHORT_HOLDS, async ({ server, visitor }) => {
  const page = await come(await visitor(), server, "Kim");
  const other = await come(await visitor(), server, "Lee");
  await Promise.all([seatsShown(page), seatsShown(other)]);
  await charge(page, 500_000);
  await seat(page, 50).click();
  await seat(page, 49).click();
  await holds(page, 2);
  await page.waitForFunction(() => document.querySelectorAll(".hold.over").length === 2);
  await page.waitForFunction(() => /nobody has taken the seat yet/.test(document.querySelector(".hold-note").textContent));
  await other.waitForFunction(() => document.querySelectorAll("#map .seat-held").length === 0);
  await seat(other, 49).click();
  await page.waitForFunction(() => /somebody else has the seat now/.test(document.querySelectorAll(".hold-note")[1].textContent));
  assert.ok(await page.locator(".hold .pay").nth(1).isHidden());
  await page.locator(".hold .drop").nth(1).click();
  await holds(page, 1);
  await page.click(".hold .pay");
  await page.waitForURL(/\/receipt\/\d+$/);
  assert.match(await page.textContent(".receipt"), /50,000 points/);
});

story("a buyer reads why a seat is refused, and when to try again", WIDE, async ({ server, visitor }) => {
  const page = await come(await visitor(), server, "Kim");
  await seatsShown(page);
  await seat(page, 20).click();
  await holds(page, 1);
  await page.click(".hold .drop");
  await holds(page, 0);
  await seat(page, 20).click();
  await says(page, "notice", /others have their chance first.* in (1 minute|5\d seconds)\.$/);
  for (const [n, number] of [21, 22, 23, 24].entries()) {
    await seat(page, number).click();
    await holds(page, n + 1);
  }
  await seat(page, 25).click();
  await says(page, "notice", /as many seats for this date as one person may/);
  await holds(page, 4);
});

story("a hold that is over says when it can no longer be paid for", `${SHORT_HOLDS}late_payment = "3s"\n`, async ({ server, visitor }) => {
  const page = await come(await visitor(), server, "Kim");
  await seatsShown(page);
  await seat(page, 30).click();
  await holds(page, 1);
  const note = (words) => page.waitForFunction((text) => document.querySelector(".hold-note").textContent.includes(text), words);
  await note("you can still pay for it for a short while");
  assert.ok(await page.locator(".hold .pay").isVisible());
  await note("The time to pay for this seat is over.");
  assert.ok(await page.locator(".hold .pay").isHidden());
});

story("a hold counts down right though the clocks of the box office and the visitor are wrong", WIDE, async ({ server, visitor }) => {
  for (const wrong of [600_000, -600_000]) {
    const person = await visitor();
    await person.context.clock.setSystemTime(Date.now() - wrong);
    await person.context.route("**/*", async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 });
      const headers = { ...answer.headers(), date: new Date(Date.now() + wrong).toUTCString() };
      await route.fulfill({ response: answer, headers });
    });
    const page = await come(person, server, "Kim");
    await seatsShown(page);
    await seat(page, wrong > 0 ? 41 : 42).click();
    await holds(page, 1);
    assert.match(await page.textContent(".hold-left"), /^(5:00|4:5\d)$/);
    await page.waitForFunction(() => /^4:5[0-7]$/.test(document.querySelector(".hold-left").textContent));
  }
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
  // In steps, so that answers come in between: the next question waits for them.
  for (let n = 0; n < 60 && !(await page.$("#still[open]")); n += 1) await page.clock.runFor(5_000);
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
