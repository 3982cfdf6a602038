import assert from "node:assert/strict";
import { open, sees, story, text, token } from "./given.js";

const NO_SCRIPT = { javaScriptEnabled: false };

story("without scripts one joins, waits, is let in and moves on", undefined, async ({ server, visitor }) => {
  const inside = await server.join();
  const other = await server.join();
  const person = await visitor(NO_SCRIPT);
  const page = await open(person, `${server.url}/wait/main?return=${encodeURIComponent("/readyz?x=1&y")}`);
  await page.click("#joining button");
  await page.waitForSelector("#waiting");
  assert.equal(await text(page, "ahead"), "1");
  assert.equal(await text(page, "ordinal"), "3");
  await server.leave(other.token);
  await page.reload();
  assert.equal(await text(page, "ahead"), "Next");
  await server.leave(inside.token);
  await page.waitForURL(`${server.url}/readyz?x=1&y`, { timeout: 15_000 });
  assert.equal((await server.room()).issued, 3);
});

story("without scripts one leaves, and may join again", undefined, async ({ server, visitor }) => {
  await server.join();
  const page = await open(await visitor(NO_SCRIPT), `${server.url}/wait/main?lang=ko`);
  await page.click("#joining button");
  await page.click("summary");
  await page.click("details button");
  assert.match(await page.textContent("#ended"), /줄에서 나왔어요/);
  assert.equal((await server.room()).waiting, 0);
  await page.click("#ended button");
  assert.equal(await text(page, "ordinal"), "3");
});

story("the server and the script tell the same place in the same words", undefined, async ({ server, visitor }) => {
  for (let n = 0; n < 40; n += 1) await server.join();
  for (const locale of ["ko-KR", "en-US"]) {
    const person = await visitor({ locale });
    const page = await open(person, `${server.url}/wait/main`);
    await sees(page, "waiting");
    const asked = { headers: { "Accept-Language": locale } };
    const html = await (await person.context.request.get(`${server.url}/wait/main?nojs=1`, asked)).text();
    const plain = await person.context.newPage();
    await plain.setContent(html.replace(/<meta http-equiv[^>]*>|<link[^>]*>/g, ""));
    for (const id of ["ahead", "ahead-label", "eta", "behind", "ordinal"]) {
      assert.equal(await text(page, id), await text(plain, id), id);
    }
  }
});

// What somebody without scripts can press and nothing would come of.
const dead = (page) =>
  page.locator("button:visible").evaluateAll((buttons) =>
    buttons.filter(({ type, form }) => type !== "submit" || form?.method !== "post").map((button) => button.outerHTML),
  );

story("without scripts no button is dead, and none is there twice", undefined, async ({ server, visitor }) => {
  const inside = await server.join();
  const person = await visitor(NO_SCRIPT);
  const page = await open(person, `${server.url}/wait/main`);
  const check = async (state) => {
    await page.waitForSelector(`#${state}`);
    assert.deepEqual(await dead(page), [], state);
    assert.equal(await page.locator("h1:visible").count(), 1, `${state} has one heading`);
  };
  await check("joining");
  await page.click("#joining button");
  await page.goto(`${server.url}/wait/main`);
  await check("waiting");
  assert.equal(await page.locator(":is(button, summary):visible", { hasText: "Leave the line" }).count(), 1);
  await server.leave(inside.token);
  await page.goto(`${server.url}/wait/main`);
  await check("admitted");
  await server.leave(await token(person));
  await page.goto(`${server.url}/wait/main`);
  await check("ended");
  await page.goto(server.url);
  assert.equal(await page.locator('.rooms a[href="/wait/main#join"]').count(), 1, "the list of rooms");
  assert.deepEqual(await dead(page), [], "home");
});
