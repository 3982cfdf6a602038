// The waiting page: joins if there is no place, shows the place, moves on when it is its turn.

import { join, leave } from "./line.js";
import { memory } from "./memory.js";
import { ask, poll } from "./source.js";
import { fill, words } from "./words.js";

// What ends a visit, and not the wait.
const ENDS_VISIT = ["finished", "FINISHED", "EXPIRED", "unknown_visit"];
const PANELS = ["joining", "waiting", "admitted", "ended", "refused"];
// Long enough to read that it is one's turn.
const MOMENT_MS = 1_500;
// A screen reader is told of numbers no more often than this.
const SAY_MS = 20_000;
const STALE_MS = 5_000;
// A join without an answer is tried again after this, up to twice as late.
const RETRY_MS = 2_000;
// How often the box office is asked about the seats of the date that one waits for.
const SEATS_MS = 30_000;

const at = (id) => document.getElementById(id);
const page = at("wait");
const { room, return: returnTo, date } = page.dataset;
const texts = JSON.parse(at("texts").textContent);
const word = words(texts, document.documentElement.lang);
const remembered = memory(room);
const source = poll({ room, seen: remembered.place });

let panel = page.dataset.state;
let hadPlace = false;
let inTrouble = false;
let soldOut = false;
// Of the date: unknown until the box office has said so.
let dateSeats = null;
let seatsAskedAt = -SEATS_MS;
let said = { text: "", at: 0 };
let countdown;
let retrying;

function show(name) {
  if (name === panel) return;
  panel = name;
  page.dataset.state = name;
  for (const id of PANELS) at(id).hidden = id !== name;
  at("number").hidden = name !== "waiting";
  // Whoever had the focus in a panel that is gone would be at the top of the page without knowing.
  if (name !== "joining" && name !== "waiting") at(name).querySelector("h1").focus({ preventScroll: true });
}

function say(text, { now = false } = {}) {
  if (text === said.text || (!now && Date.now() - said.at < SAY_MS)) return;
  said = { text, at: Date.now() };
  at("say").textContent = text;
}

function notice(text, trouble = false) {
  const changed = at("notice").textContent !== text;
  at("notice").textContent = text;
  at("notice").hidden = !text;
  at("notice").classList.toggle("trouble", trouble);
  if (text && changed) say(text, { now: true });
}

function onPlace(place, now) {
  hadPlace = true;
  remembered.setEnded(null);
  const seen = remembered.see(place);
  if (place.status === "ACTIVE") return admitted(place);
  waiting(place, seen, now);
}

function waiting(place, seen, now) {
  const { ahead, behind, ordinal, etaRange, admitAt, seatsLeft } = place;
  const { big, label, title, spoken } = rank(place);
  at("ahead").textContent = big;
  at("ahead").classList.toggle("word", ahead === 0);
  at("ahead").classList.toggle("long", ahead >= 100_000);
  at("ahead-label").textContent = label;
  at("behind").textContent = word.people(behind);
  at("ordinal").textContent = word.number(ordinal);
  const eta = etaRange ? word.band(etaRange) : texts.wait.unknown_wait;
  at("eta").textContent = eta;
  at("at-row").hidden = !admitAt;
  if (admitAt) {
    at("at").dateTime = admitAt;
    at("at").textContent = word.clock(Date.parse(admitAt) - now + Date.now());
  }
  if (date && seatsLeft !== null) askSeats();
  showSeats(date && seatsLeft !== null ? dateSeats : seatsLeft);
  // Being next is all of the way.
  at("progress").max = seen.from + 1;
  at("progress").value = seen.from - ahead + 1;
  notice(roomNotice(place, now));
  if (inTrouble) say(texts.wait.say_back, { now: true });
  inTrouble = false;
  say(fill(spoken, { people: word.people(ahead), wait: eta }), { now: panel !== "waiting" });
  document.title = fill(title, { n: word.number(ahead) });
  show("waiting");
}

// The big number and what is said with it. With nobody ahead in line, some may still go in before the line.
function rank({ ahead, next, beforeLine }) {
  const { next_label, ahead_one, ahead_many, soon_label, back_label, back_soon_label } = texts.wait;
  const { title_next, title_ahead, title_soon, say_next, say_ahead, say_soon } = texts.wait;
  if (next ?? ahead === 0) return { big: texts.wait.next, label: next_label, title: title_next, spoken: say_next };
  if (ahead === 0) {
    const label = beforeLine ? back_soon_label : soon_label;
    return { big: texts.wait.soon, label, title: title_soon, spoken: say_soon };
  }
  const label = beforeLine ? back_label : ahead === 1 ? ahead_one : ahead_many;
  return { big: word.number(ahead), label, title: title_ahead, spoken: say_ahead };
}

// The room knows how many seats of all dates are left, the box office those of one.
async function askSeats() {
  if (performance.now() - seatsAskedAt < SEATS_MS) return;
  seatsAskedAt = performance.now();
  const { place: told, problem } = await ask("GET", `/tickets/${date}/left`);
  if (told) dateSeats = told.seatsLeft;
  else if (problem) dateSeats = null;
  if (panel === "waiting") showSeats(dateSeats);
}

function showSeats(left) {
  // A page that an earlier version wrote, and that asks this one for its scripts, has no row for them.
  if (!at("seats-row")) return;
  at("seats-row").hidden = left === null;
  if (left !== null) at("seats").textContent = word.seats(left);
  // What everybody hoped for while there were none.
  if (soldOut && left > 0) say(`${texts.wait.seats}: ${word.seats(left)}`, { now: true });
  soldOut = left === 0;
}

function roomNotice({ asOf, roomState }, now) {
  const asOfMs = Date.parse(asOf);
  if (now - asOfMs > STALE_MS) return fill(texts.wait.stale, { time: word.exactClock(asOfMs - now + Date.now()) });
  const { sold_out: SOLD_OUT, paused: PAUSED, closed: CLOSED, draining: DRAINING } = texts.wait;
  const OPEN = date && dateSeats === 0 ? texts.wait.sold_out_date : "";
  return { OPEN, SOLD_OUT, PAUSED, CLOSED, DRAINING }[roomState] ?? "";
}

function admitted({ remainingSeconds }) {
  const first = panel !== "admitted" || !countdown;
  notice("");
  document.title = texts.wait.title_admitted;
  show("admitted");
  say(texts.wait.admitted, { now: true });
  if (at("sure").open) at("sure").close("stay");
  if (returnTo) {
    source.stop();
    if (first) countdown = setTimeout(() => location.replace(at("go").href), MOMENT_MS);
    return;
  }
  countDown(performance.now() + remainingSeconds * 1_000);
}

function countDown(until) {
  clearInterval(countdown);
  const tick = () => {
    const left = until - performance.now();
    at("left").textContent = word.countdown(left);
    // How it ended, the server knows.
    if (left <= 0) watch();
  };
  tick();
  countdown = setInterval(tick, 1_000);
}

function onEnd({ code, reason, requestId }) {
  if (code === "ROOM_NOT_FOUND") return refused({ code, requestId });
  const was = hadPlace || (code !== "TOKEN_INVALID" && remembered.place());
  const unknown = { TOKEN_INVALID: "elsewhere", TOKEN_EXPIRED: "unknown_visit" }[code] ?? "unknown";
  const why = was ? (reason ?? unknown) : remembered.ended();
  if (why) ended(why);
  else enter();
}

function ended(why) {
  source.stop();
  clearInterval(countdown);
  hadPlace = false;
  remembered.forget();
  remembered.setEnded(why);
  // It said that the place is kept.
  notice("");
  const visit = ENDS_VISIT.includes(why);
  at("ended-title").textContent = visit ? texts.wait.visit_ended : texts.wait.ended;
  at("why").textContent = texts.wait[`ended_${why}`] ?? texts.wait.ended_unknown;
  document.title = visit ? texts.wait.visit_ended : texts.wait.title_ended;
  show("ended");
  say(`${at("ended-title").textContent}. ${at("why").textContent}`, { now: true });
}

async function enter() {
  clearTimeout(retrying);
  remembered.setEnded(null);
  countdown = undefined;
  // A refused page that tries again by itself stays as it is until there is something new to say.
  if (panel !== "refused") show("joining");
  const { place, problem, waitMs, now } = await join(room, remembered);
  if (place) {
    watch(place.pollAfterMs);
    onPlace(place, now);
  } else if (problem) {
    notice("");
    refused(problem, waitMs);
  } else {
    onTrouble();
    retrying = setTimeout(enter, RETRY_MS * (1 + Math.random()));
  }
}

function refused({ code, requestId }, waitMs) {
  at("refusal").textContent = texts.problem[code] ?? texts.problem.other;
  at("reference").textContent = fill(texts.wait.reference, { code, id: requestId });
  document.title = texts.wait.refused;
  show("refused");
  say(`${texts.wait.refused}. ${at("refusal").textContent}`, { now: true });
  if (waitMs) retrying = setTimeout(enter, waitMs * (1 + 0.2 * Math.random()));
}

function onTrouble() {
  inTrouble = true;
  notice(texts.wait.trouble, true);
}

async function giveUp(why) {
  source.stop();
  const { done, problem } = await leave(room);
  if (done || problem?.code === "TOKEN_INVALID") ended(why);
  else {
    onTrouble();
    watch();
  }
}

function watch(afterMs) {
  source.start(onPlace, onEnd, onTrouble, afterMs);
}

// A button that only this script answers is not shown before it can.
for (const part of page.querySelectorAll("[data-needs-script]")) part.hidden = false;
at("leave").addEventListener("click", () => at("sure").showModal());
at("sure").addEventListener("close", () => {
  if (at("sure").returnValue === "leave") giveUp("left");
  at("sure").returnValue = "";
});
at("finish")?.addEventListener("click", () => giveUp("finished"));
at("again").addEventListener("click", enter);
at("retry").addEventListener("click", enter);

// From the home page's button: whoever asks for a new place is not told about the old one.
if (location.hash === "#join") {
  history.replaceState(null, "", location.pathname + location.search);
  remembered.forget();
  remembered.setEnded(null);
}
// The server has looked for a place already while it wrote this page.
if (panel !== "joining") watch();
else if (remembered.ended()) ended(remembered.ended());
else enter();
