import assert from "node:assert/strict";
import { open, says, sees, story, text, token } from "./given.js";

story("the one who waits is let in by the other's leaving, and moves on alone", undefined, async ({ server, visitor }) => {
  const [inside, waiting] = [await visitor(), await visitor()];
  const first = await open(inside, `${server.url}/wait/main`);
  await sees(first, "admitted");
  assert.match(await text(first, "left"), /^0:[0-5]\d$|^1:00$/);
  const other = await server.join();
  const second = await open(waiting, `${server.url}/wait/main?return=/healthz`);
  await sees(second, "waiting");
  assert.equal(await text(second, "ahead"), "1");
  assert.equal(await second.title(), "1 ahead");
  await server.leave(other.token);
  await says(second, "ahead", /^Next$/);
  await first.click("#finish");
  await sees(first, "ended");
  assert.match(await text(first, "why"), /You are done/);
  await sees(second, "admitted");
  assert.equal(await second.title(), "Your turn!");
  await second.waitForURL(`${server.url}/healthz`);
  assert.equal((await server.room()).active, 1);
});

story("a reload, a closed tab and a second tab keep one place", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  const { issued } = await server.room();
  await page.reload();
  await sees(page, "waiting");
  assert.equal(await text(page, "ordinal"), "2");
  await page.close();
  const again = await open(person, `${server.url}/wait/main`);
  await sees(again, "waiting");
  assert.equal(await text(again, "ordinal"), "2");
  const second = await open(person, `${server.url}/wait/main`);
  await sees(second, "waiting");
  assert.equal(await text(second, "ordinal"), "2");
  assert.equal((await server.room()).issued, issued, "nobody has joined since");
});

story("tabs that are opened at the same moment make one place", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const { issued } = await server.room();
  const pages = await Promise.all([1, 2, 3, 4].map(() => person.context.newPage()));
  await Promise.all(pages.map((page) => page.goto(`${server.url}/wait/main`)));
  await Promise.all(pages.map((page) => sees(page, "waiting")));
  const ordinals = await Promise.all(pages.map((page) => text(page, "ordinal")));
  assert.deepEqual(new Set(ordinals), new Set(["2"]));
  assert.equal((await server.room()).issued, issued + 1);
});

story("a join whose answer is lost is repeated with the same key", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  let lost = 0;
  await person.context.route("**/api/v1/queue/tokens", async (route) => {
    if (lost > 0) return route.continue();
    lost += 1;
    await route.fetch({ headers: await route.request().allHeaders() });
    await person.context.clearCookies();
    return route.abort();
  });
  const page = await open(person, `${server.url}/wait/main`);
  await says(page, "notice", /Trying again/);
  await page.reload();
  await sees(page, "waiting");
  assert.equal(await text(page, "ordinal"), "2");
  assert.equal((await server.room()).issued, 2);
});

story("a server that is killed and started again is found by an open page", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  await server.kill("SIGKILL");
  await says(page, "notice", /Trying again; your place is kept/);
  assert.equal(await text(page, "ordinal"), "2", "the numbers stay");
  await server.run(new URL(server.url).host);
  await page.waitForSelector("#notice[hidden]", { state: "attached" });
  await sees(page, "waiting");
  assert.equal(await text(page, "ordinal"), "2");
});

story("a place that is given up elsewhere ends the asking, with the reason", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  await server.leave(await token(person));
  await sees(page, "ended");
  assert.equal(await text(page, "why"), "You left the line in another tab or on another device.");
  assert.equal(await page.title(), "No longer in line");
  const asked = person.requests.length;
  await page.clock.install();
  await page.clock.fastForward("05:00");
  assert.equal(person.requests.length, asked, "the page asks no more");
  await page.reload();
  await sees(page, "ended");
  await page.click("#again");
  await sees(page, "waiting");
  assert.equal(await text(page, "ordinal"), "3");
});

story("leaving asks first, and a reload does not join anew", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  await page.click("#leave");
  await page.click('#sure button[value="stay"]');
  assert.equal((await server.room()).waiting, 1, "nothing happened");
  await page.click("#leave");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#sure:not([open])", { state: "attached" });
  assert.equal((await server.room()).waiting, 1, "nothing happened");
  await page.click("#leave");
  await page.click('#sure button[value="leave"]');
  await sees(page, "ended");
  assert.equal(await text(page, "why"), "You have left the line.");
  assert.equal((await server.room()).waiting, 0);
  await page.reload();
  await sees(page, "ended");
  const fresh = await open(person, `${server.url}/`);
  await fresh.click("text=Join the line");
  await sees(fresh, "waiting");
  assert.equal(await text(fresh, "ordinal"), "3");
});

const SHORT_PASS = '[rooms.main]\nactive_max = 1\nevery = "100ms"\npass_ttl = "2s"\npass_max = "2s"\npresence_ttl = "3s"\n';

story("a pass that runs out is told so", SHORT_PASS, async ({ server, visitor }) => {
  const page = await open(await visitor(), `${server.url}/wait/main`);
  await sees(page, "admitted");
  await sees(page, "ended");
  assert.equal(await text(page, "ended-title"), "Your visit has ended");
  assert.equal(await text(page, "why"), "The time on your pass ran out.");
});

const FULL = '[rooms.main]\nactive_max = 1\nevery = "100ms"\nwaiting_max = 1\npresence_ttl = "3s"\n';

story("a full line says so and is tried again", FULL, async ({ server, visitor }) => {
  await server.join();
  const waiting = await server.join();
  const page = await open(await visitor(), `${server.url}/wait/main`);
  await sees(page, "refused");
  assert.match(await text(page, "refusal"), /The line is full/);
  assert.match(await text(page, "reference"), /^Code ROOM_FULL, reference \w+$/);
  await server.leave(waiting.token);
  await page.click("#retry");
  await sees(page, "waiting");
});

story("the place never moves back, and the bar starts where the visitor joined", undefined, async ({ server, visitor }) => {
  const line = [];
  for (let n = 0; n < 5; n += 1) line.push(await server.join());
  const page = await open(await visitor(), `${server.url}/wait/main`);
  await sees(page, "waiting");
  const bar = () => page.$eval("#progress", ({ value, max }) => [value, max]);
  assert.deepEqual(await bar(), [1, 5]);
  await server.leave(line[2].token);
  await says(page, "ahead", /^3$/);
  assert.deepEqual(await bar(), [2, 5]);
  await page.reload();
  await says(page, "ahead", /^3$/);
  await page.waitForFunction(() => document.getElementById("progress").max === 5);
  assert.deepEqual(await bar(), [2, 5]);
});

story("a notice that the place is kept goes when the place ends", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor();
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  await server.tell("close");
  await says(page, "notice", /Your place is kept/);
  await server.leave(await token(person));
  await sees(page, "ended");
  assert.equal(await page.isVisible("#notice"), false);
  assert.equal(await text(page, "notice"), "");
});

for (const [locale, heading, removed, emptied] of [
  ["en-US", "You are no longer in line", /The operator removed you/, /The operator emptied this room/],
  ["ko-KR", "더 이상 대기 중이 아니에요", /운영자가 나를 이 대기실에서 내보냈어요/, /운영자가 대기실을 비웠어요/],
]) {
  story(`an operator's word is said to be one (${locale})`, undefined, async ({ server, visitor }) => {
    await server.join();
    const [one, two] = [await visitor({ locale }), await visitor({ locale })];
    await server.call("POST", "/api/v1/queue/tokens", { body: { userId: "ann" } }).then(({ token: value }) =>
      one.context.addCookies([{ name: "rl_main", value, url: server.url }]),
    );
    const [first, second] = [await open(one, `${server.url}/wait/main`), await open(two, `${server.url}/wait/main`)];
    await sees(first, "waiting");
    await sees(second, "waiting");
    await server.operate("DELETE", "main/visitors/ann");
    await sees(first, "ended");
    assert.equal(await text(first, "ended-title"), heading);
    assert.match(await text(first, "why"), removed);
    await server.tell("reset");
    await sees(second, "ended");
    assert.equal(await text(second, "ended-title"), heading);
    assert.match(await text(second, "why"), emptied);
  });
}

// Whoever is away for six seconds is stepped over, and may come back.
const WATCHFUL = '[rooms.main]\nactive_max = 1\nevery = "100ms"\npass_ttl = "60s"\npresence_ttl = "3s"\nmissed_turn_ttl = "10m"\n';

story("only the one who is next is told so", WATCHFUL, async ({ server, visitor }) => {
  const inside = await server.join();
  const away = [await server.join(), await server.join()];
  const status = ({ token }) => server.call("GET", "/api/v1/queue/status", { token });
  const person = await visitor();
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  // Those away are stepped over once they have been silent for long enough; whoever asks is let in behind them.
  await new Promise((done) => setTimeout(done, 5_000));
  await server.leave(inside.token);
  await sees(page, "admitted");
  const next = await open(await visitor(), `${server.url}/wait/main`);
  await sees(next, "waiting");
  await says(next, "ahead", /^Next$/);
  const [first, second] = [await status(away[0]), await status(away[1])];
  assert.deepEqual([first.ahead, first.next, first.beforeLine], [0, true, true]);
  assert.deepEqual([second.ahead, second.next, second.beforeLine], [1, false, true]);
  await says(next, "ahead", /^Soon$/);
  assert.match(await text(next, "ahead-label"), /You are first in line/);
  assert.equal(await next.title(), "Soon your turn");
  await server.leave(away[0].token);
  await server.leave(away[1].token);
  await says(next, "ahead", /^Next$/);
});
