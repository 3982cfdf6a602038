// The operators' page: the rooms as they are, and the words that are said to them most.

import { bars, line } from "./plot.js";
import { fill, words } from "./words.js";

const ROOMS = "/api/v1/admin/rooms";
const LOOK_MS = 2_000;
// Plots and waits change slowly; and many rooms must not use up what one address may ask.
const STATS_EVERY = 3;
const PATIENCE_MS = 8_000;

const at = (id) => document.getElementById(id);
const list = at("rooms");
const texts = JSON.parse(at("texts").textContent);
const lang = document.documentElement.lang;
const word = words(texts, lang);
const cards = new Map();
let looks = 0;

async function ask(method, path, body) {
  const headers = { "X-CSRF-Token": list.dataset.csrf };
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(ROOMS + path, {
    method,
    headers,
    body: body && JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  // The session has ended: the page of the same address asks for the key again.
  if (answer.status === 401) location.reload();
  const content = await answer.json();
  if (!answer.ok) throw new Error(`${content.title} (${content.code})`);
  return content;
}

function notice(text) {
  at("notice").textContent = text;
  at("notice").hidden = !text;
}

function card(name) {
  const known = cards.get(name);
  if (known) return known;
  const made = at("room").content.firstElementChild.cloneNode(true);
  const title = made.querySelector(".name");
  title.textContent = name;
  title.id = `room-${name}`;
  made.setAttribute("aria-labelledby", title.id);
  made.querySelector(".page-link").href = `/wait/${name}`;
  made.querySelector(".pause").addEventListener("click", () => {
    tell(name, made.dataset.state === "PAUSED" ? "resume" : "pause");
  });
  made.querySelector(".admit").addEventListener("submit", (event) => {
    event.preventDefault();
    tell(name, "admit", { count: Number(new FormData(event.target).get("count")) });
  });
  cards.set(name, made);
  list.append(made);
  return made;
}

function set(into, of, text) {
  into.querySelector(`[data-of="${of}"]`).textContent = text;
}

function showRoom({ room, state, waiting, active, seatsLeft, policy }) {
  const into = card(room);
  into.dataset.state = state;
  const pill = into.querySelector(".state");
  pill.textContent = texts.state[state] ?? state;
  pill.className = `state state-${state.toLowerCase()}`;
  into.querySelector(".pause").textContent = state === "PAUSED" ? texts.admin.resume : texts.admin.pause;
  set(into, "waiting", word.number(waiting));
  set(into, "active", word.number(active));
  set(into, "cap", policy.activeMax ? fill(texts.admin.of_cap, { n: word.number(policy.activeMax) }) : "");
  into.querySelector(".seats").hidden = seatsLeft === null;
  set(into, "seats", word.number(seatsLeft ?? 0));
  into.dataset.cap = policy.activeMax ?? 0;
}

function showStats(stats) {
  const { room, perMinute, waits, estimate, estimates, series } = stats;
  const into = card(room);
  set(into, "admitted", word.number(Math.round(perMinute.admitted)));
  set(into, "joined", word.number(Math.round(perMinute.joined)));
  set(into, "estimate", estimate ? word.band(estimate) : "–");
  const [p50, p90] = [waits.p50Seconds, waits.p90Seconds].map((s) => s !== null && word.countdown(s * 1_000));
  set(into, "waited", waits.count ? fill(texts.admin.p50_p90, { p50, p90 }) : "–");
  const share = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 0 });
  set(into, "within", estimates.withinBand === null ? "–" : share.format(estimates.withinBand));
  const points = (of) => series.map((point) => ({ at: Date.parse(point.at), value: point[of] }));
  plot(into, "waiting", (svg) => line(svg, points("waiting")), stats.waiting);
  plot(into, "active", (svg) => line(svg, points("active"), Number(into.dataset.cap)), stats.active);
  plot(into, "admitted", (svg) => bars(svg, points("admitted")), Math.round(perMinute.admitted));
}

function plot(into, name, draw, now) {
  const svg = into.querySelector(`[data-plot="${name}"]`);
  const caption = svg.parentElement.querySelector("figcaption span").textContent;
  svg.setAttribute("aria-label", fill(texts.admin.plot_says, { what: caption, n: word.number(now) }));
  draw(svg);
}

// What the store cannot do, and what it took although nobody else has it.
function showStore({ reason, unreplicated }) {
  const said = [];
  if (reason) said.push(fill(texts.admin.store_away, { why: reason }));
  if (unreplicated) said.push(fill(texts.admin.unreplicated, { n: word.number(unreplicated) }));
  at("store").textContent = said.join(" ");
  at("store").hidden = said.length === 0;
}

async function tell(room, what, body) {
  try {
    showRoom(await ask("POST", `/${room}/${what}`, body));
    notice("");
  } catch (error) {
    notice(fill(texts.admin.not_done, { why: error.message }));
  }
}

async function look() {
  try {
    const { rooms, store } = await ask("GET", "");
    showStore(store);
    const names = new Set(rooms.map((room) => room.room));
    for (const [name, gone] of cards) {
      if (names.has(name)) continue;
      gone.remove();
      cards.delete(name);
    }
    rooms.forEach(showRoom);
    if (looks % STATS_EVERY === 0) {
      const all = await Promise.all(rooms.map(({ room }) => ask("GET", `/${room}/stats`)));
      all.forEach(showStats);
    }
    looks += 1;
    at("fresh").textContent = fill(texts.admin.as_of, { time: word.exactClock(Date.now()) });
    if (at("notice").dataset.away) notice("");
    delete at("notice").dataset.away;
  } catch (error) {
    at("notice").dataset.away = "yes";
    notice(fill(texts.admin.away, { why: error.message }));
  }
  setTimeout(look, LOOK_MS);
}

look();
