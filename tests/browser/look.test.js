import assert from "node:assert/strict";
import { open, sees, story, text, token, violations } from "./given.js";

for (const [locale, colorScheme] of [["en-US", "light"], ["en-US", "dark"], ["ko-KR", "light"], ["ko-KR", "dark"]]) {
  story(`every state is accessible and keeps to itself (${locale}, ${colorScheme})`, undefined, async ({ server, visitor }) => {
    const inside = await server.join();
    const person = await visitor({ locale, colorScheme, reducedMotion: "reduce" });
    const check = async (page, name) => assert.deepEqual(await violations(page), [], name);
    await check(await open(person, `${server.url}/`), "home");
    const page = await open(person, `${server.url}/wait/main`);
    await sees(page, "waiting");
    await check(page, "waiting");
    await page.click("#leave");
    await check(page, "leave?");
    await page.keyboard.press("Escape");
    await server.leave(inside.token);
    await sees(page, "admitted");
    await check(page, "admitted");
    await server.leave(await token(person));
    await page.reload();
    await sees(page, "ended");
    await check(page, "ended");
    await check(await open(person, `${server.url}/wait/nowhere`), "no such room");
    const strangers = person.requests.filter((url) => !url.startsWith(`${server.url}/`));
    assert.deepEqual(strangers, [], "no request to anybody else");
    // The browser itself notes each answer that is an error; the ended place and the missing room are two.
    const complaints = person.complaints.filter((line) => !line.startsWith("Failed to load resource"));
    assert.deepEqual(complaints, [], "no complaint of the browser");
  });
}

story("nothing is wider than the screen, on a phone or a desktop", undefined, async ({ server, visitor }) => {
  await server.join();
  for (const [width, height] of [[360, 740], [1280, 800]]) {
    for (const locale of ["ko-KR", "en-US"]) {
      const person = await visitor({ locale, viewport: { width, height } });
      const page = await open(person, `${server.url}/`);
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      assert.ok(await fits(), `home ${width} ${locale}`);
      await page.goto(`${server.url}/wait/main`);
      await sees(page, "waiting");
      assert.ok(await fits(), `waiting ${width} ${locale}`);
      await page.$eval("#ahead", (ahead) => {
        ahead.textContent = "4,999,999";
        ahead.className = "long";
      });
      assert.ok(await fits(), `a long line ${width} ${locale}`);
    }
  }
});

story("the language is switched by a link, and stays", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor({ locale: "ko-KR" });
  const page = await open(person, `${server.url}/wait/main?return=/healthz`);
  await sees(page, "waiting");
  assert.equal(await page.getAttribute("html", "lang"), "ko");
  assert.match(await page.textContent("#waiting"), /새로고침해도 괜찮아요/);
  await page.click("text=English");
  await sees(page, "waiting");
  assert.match(await page.textContent("#waiting"), /Reloading is fine/);
  assert.equal(await page.getAttribute("#wait", "data-return"), "/healthz", "the way on is kept");
  assert.equal(await text(page, "ordinal"), "2", "and so is the place");
  await page.goto(`${server.url}/`);
  assert.equal(await page.getAttribute("html", "lang"), "en");
});

story("the waiting page weighs less than 60 kB", undefined, async ({ server, visitor }) => {
  await server.join();
  const person = await visitor({ locale: "ko-KR" });
  let bytes = 0;
  const sizes = [];
  person.context.on("response", (response) => {
    if (!response.url().includes("/api/")) sizes.push(response.body().then((body) => (bytes += body.length)));
  });
  const page = await open(person, `${server.url}/wait/main`);
  await sees(page, "waiting");
  await Promise.all(sizes);
  assert.ok(sizes.length >= 7, "html, css, icon and scripts");
  assert.ok(bytes < 60_000, `${bytes} bytes`);
});

story("a screen reader hears the place, and not each second", undefined, async ({ server, visitor }) => {
  await server.join();
  const other = await server.join();
  const page = await open(await visitor(), `${server.url}/wait/main`);
  await sees(page, "waiting");
  assert.match(await text(page, "say"), /^1 person ahead of you/);
  const before = await text(page, "say");
  await server.leave(other.token);
  await page.waitForFunction(() => document.getElementById("ahead").textContent === "Next");
  assert.equal(await text(page, "say"), before, "within 20 seconds nothing more is said");
});
