import assert from "node:assert/strict";
import { story, open, sees, says, violations } from "./given.js";
import { ADMIN_KEY } from "./ropeline.js";

const SLOW = `
[rooms.main]
active_max = 1
every = "100ms"
presence_ttl = "0s"
[rooms.album-sale]
active_max = 5
presence_ttl = "0s"
`;

async function logIn(visitor, server) {
  const page = await open(visitor, `${server.url}/admin`);
  await page.fill("#key", ADMIN_KEY);
  await page.click(".login button");
  await page.waitForSelector("#room-main");
  return page;
}

const card = (page, room) => page.locator(`.room-live:has(#room-${room})`);
const figure = (page, room, of) => card(page, room).locator(`[data-of="${of}"]`);

async function shows(page, room, of, wanted) {
  await page.waitForFunction(
    ([selector, text]) => document.querySelector(selector)?.textContent === text,
    [`.room-live:has(#room-${room}) [data-of="${of}"]`, wanted],
  );
}

story("without the key nobody sees the rooms", SLOW, async ({ server, visitor }) => {
  const page = await open(await visitor(), `${server.url}/admin`);
  await page.fill("#key", "not-the-key");
  await page.click(".login button");
  assert.match(await page.textContent("[role=alert]"), /not the admin key/);
  assert.equal(await page.locator("#rooms").count(), 0);
  await page.goto(`${server.url}/admin`);
  assert.equal(await page.locator("#key").count(), 1, "and still not");
});

story("an operator watches, pauses, resumes and lets more in", SLOW, async ({ server, visitor }) => {
  for (let n = 0; n < 3; n += 1) await server.join();
  const page = await logIn(await visitor(), server);
  await shows(page, "main", "waiting", "2");
  await shows(page, "main", "active", "1");
  assert.equal(await figure(page, "main", "cap").textContent(), "of 1");
  await server.join();
  await shows(page, "main", "waiting", "3");

  await card(page, "main").getByRole("button", { name: "Pause" }).click();
  await card(page, "main").getByText("Paused").waitFor();
  assert.equal((await server.room()).state, "PAUSED");
  await card(page, "main").getByRole("button", { name: "Resume" }).click();
  await card(page, "main").getByText("Open", { exact: true }).waitFor();
  assert.equal((await server.room()).state, "OPEN");

  await card(page, "main").locator(".plot[data-plot=waiting] .line").waitFor({ state: "attached" });
  await card(page, "album-sale").getByLabel("Let in at once").fill("3");
  await card(page, "album-sale").getByRole("button", { name: "Let in", exact: true }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForSelector("#key");
});

story("the page says so while the server is away, and goes on", SLOW, async ({ server, visitor }) => {
  const page = await logIn(await visitor(), server);
  await server.kill("SIGKILL");
  await says(page, "notice", /No answer/);
  await server.run(new URL(server.url).host);
  await page.waitForSelector("#notice", { state: "hidden" });
  await shows(page, "main", "active", "0");
});

story("a page of another site cannot use an operator's session", SLOW, async ({ server, visitor }) => {
  const operator = await visitor();
  await logIn(operator, server);
  const cookies = await operator.context.cookies();
  const session = cookies.find(({ name }) => name === "rl__admin");
  assert.deepEqual([session.httpOnly, session.sameSite], [true, "Strict"]);
  const headers = { Cookie: `rl__admin=${session.value}` };
  const pause = (more) =>
    fetch(`${server.url}/api/v1/admin/rooms/main/pause`, { method: "POST", headers: { ...headers, ...more } });
  assert.equal((await pause({})).status, 401, "the cookie alone is not enough");
  assert.equal((await pause({ "X-CSRF-Token": "guessed" })).status, 401);
  assert.equal((await pause({ Origin: "https://evil.example" })).status, 403);
  assert.equal((await server.room()).state, "OPEN");
});

story("the waiting page tells of a pause and of a room that closes", undefined, async ({ server, visitor }) => {
  await server.join();
  const page = await open(await visitor(), `${server.url}/wait/main`);
  await sees(page, "waiting");
  await server.tell("pause");
  await says(page, "notice", /paused/);
  await server.tell("resume");
  await server.tell("close");
  await says(page, "notice", /Nobody new can join/);
});

for (const [locale, colorScheme] of [["en-US", "light"], ["ko-KR", "dark"]]) {
  story(`the operators' page is accessible and fits (${locale}, ${colorScheme})`, SLOW, async ({ server, visitor }) => {
    await server.join();
    for (const [width, height] of [[360, 740], [1280, 800]]) {
      const operator = await visitor({ locale, colorScheme, viewport: { width, height } });
      const login = await open(operator, `${server.url}/admin`);
      assert.deepEqual(await violations(login), [], "login");
      const page = await logIn(operator, server);
      await shows(page, "main", "active", "1");
      assert.deepEqual(await violations(page), [], "operators");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}`);
      assert.deepEqual(operator.complaints, []);
      assert.deepEqual(operator.requests.filter((url) => !url.startsWith(`${server.url}/`)), []);
    }
  });
}

story("the API is read and tried without a network", SLOW, async ({ server, visitor }) => {
  const reader = await visitor();
  const page = await open(reader, `${server.url}/docs`);
  await page.getByText("Join the line, or resume a place").waitFor();
  await page.locator("#operations-queue-join button.opblock-summary-control").click();
  await page.locator("#operations-queue-join button.execute").click();
  await page.locator("#operations-queue-join .live-responses-table .response-col_status").getByText("201").waitFor();
  assert.deepEqual(reader.requests.filter((url) => !/^(http:\/\/127|data:|blob:)/.test(url)), []);
  assert.deepEqual(reader.complaints, []);
});
