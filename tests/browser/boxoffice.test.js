import assert from "node:assert/strict";
import { BANK_COUNTER, WIDE, charge, come, focused, holds, nameOf, press, seat, seatsShown, tabToSeats } from "./buyer.js";
import { open, says, sees, story, text } from "./given.js";

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

story("those who wait see the seats of their date, and of another room none", `${BANK_COUNTER}[rooms.other]\nbatch = 1\nevery = "1h"\n`, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const page = await come(person, server, "Kim");
  await page.waitForURL(/wait\/main/);
  await says(page, "seats", /^50$/);
  const all = await open(await visitor(), `${server.url}/wait/main`);
  await says(all, "seats", /^150$/);
  await server.join("other");
  const other = await open(await visitor(), `${server.url}/wait/other`);
  await sees(other, "waiting");
  assert.equal(await other.isVisible("#seats-row"), false);
});
