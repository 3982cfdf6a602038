// The page of a date: the seats, what one holds of them, and paying.

import { ask } from "./api.js";
import { charging } from "./charge.js";
import { holdsPanel } from "./holds.js";
import { answered, isFinal, keyFor } from "./keys.js";
import { legend, seatMap } from "./map.js";
import { watch } from "./watch.js";
import { fill, words } from "./words.js";

// What other tabs of the same person do is noticed after so long.
const OWN_MS = 10_000;
const OUTSIDE = ["TOKEN_INVALID", "TOKEN_EXPIRED", "TOKEN_NOT_FOUND", "NOT_ADMITTED"];
// Why a payment after the end of a hold may be refused, which giving up a seat changes.
const LIMITS = ["HOLD_LIMIT", "TICKET_LIMIT"];

const at = (id) => document.getElementById(id);
const hall = at("hall");
const { date, user, lateMs } = hall.dataset;
const texts = JSON.parse(at("texts").textContent);
const word = words(texts, document.documentElement.lang);

let seats = [];
let seatsAt = -Infinity;
let own = [];
let ownAt = -Infinity;
let balance = 0;
let troubled = false;
const taking = new Set();

const map = seatMap(at("map"), { texts, word, onChoose: choose, onLook: (name) => (at("about").textContent = name) });
const holds = holdsPanel({ date, lateMs: Number(lateMs), texts, word, onPay: pay, onDrop: giveUp, onOver: lookAtOwn, say });
const purse = charging({ user, texts, word, onCharged });
const watcher = watch(look, () => at("still").showModal());

function say(text) {
  // The same words twice are heard twice.
  at("say").textContent = "";
  setTimeout(() => (at("say").textContent = text), 50);
}

// Says something to everybody, with a way on if there is one.
function notice(text, { good = false, link } = {}) {
  const into = at("notice");
  into.replaceChildren(text);
  if (link) {
    const way = document.createElement("a");
    [way.href, way.textContent] = link;
    into.append(" ", way);
  }
  into.hidden = !text;
  into.classList.toggle("fine", good);
  if (text) say(text);
}

const hushNotice = () => notice("");

// Looks at all seats, and now and then at one's own.
async function look() {
  const askedAt = performance.now();
  const [{ content, problem, waitMs }] = await Promise.all([
    ask("GET", `/concert/${date}/seats`),
    performance.now() - ownAt > OWN_MS ? lookAtOwn() : undefined,
  ]);
  if (content) {
    if (troubled) notice(texts.seats.back, { good: true });
    troubled = false;
    [seats, seatsAt] = [content.seats, askedAt];
    paint();
    return { answered: true };
  }
  if (problem && OUTSIDE.includes(problem.code)) {
    leave();
    return { answered: true };
  }
  if (!troubled) notice(problem ? word.problem(problem) : texts.seats.trouble);
  troubled = true;
  return { answered: false, waitMs };
}

async function lookAtOwn() {
  const { content, span } = await ask("GET", `/user/${user}/reservations`);
  if (!content) return;
  ownAt = performance.now();
  own = content.reservations;
  for (const hold of holds.show(own, span)) bought(hold);
  paint();
}

// Each seat as it is for whoever looks.
function paint() {
  const mine = new Map();
  for (const { seatId, state } of own) {
    if (state === "HELD") mine.set(seatId, "MINE");
    if (state === "PAID") mine.set(seatId, "BOUGHT");
  }
  holds.seen(new Map(seats.map(({ seatId, state }) => [seatId, state])), seatsAt);
  if (seats.length === 0) return;
  const first = at("map").hasAttribute("hidden");
  const shown = seats.map((seat) => ({ ...seat, state: mine.get(seat.seatId) ?? seat.state }));
  const bands = map.show(shown);
  if (first) {
    at("loading").hidden = true;
    at("map").removeAttribute("hidden");
    legend(at("legend"), bands, { texts, word });
  }
  const free = shown.filter(({ state }) => state === "FREE").length;
  at("left").hidden = false;
  at("left").textContent = word.many(texts.seats, "left", free);
  at("none-left").hidden = free > 0;
}

function change(seatId, state) {
  seats = seats.map((seat) => (seat.seatId === seatId ? { ...seat, state } : seat));
  paint();
}

function choose(seat) {
  const told = { HELD: "is_held", SOLD: "is_sold", MINE: "is_mine", BOUGHT: "is_bought" }[seat.state];
  if (!told) take(seat);
  else if (seat.state === "MINE") notice(fill(texts.seats.is_mine, { n: seat.number }), { good: true, link: toHolds() });
  else notice(fill(texts.seats[told], { n: seat.number }));
}

const toHolds = () => ["#holds-title", texts.holds.title];

async function take({ seatId, number }) {
  if (taking.has(seatId)) return;
  taking.add(seatId);
  at("about").textContent = fill(texts.seats.taking, { n: number });
  const { content, span, problem, waitMs } = await ask("POST", `/concert/${seatId}/reservation`);
  taking.delete(seatId);
  if (content) {
    own = [content, ...own];
    holds.put(content, span);
    holds.paint();
    paint();
    const left = word.length(content.remainingMs);
    notice(fill(texts.seats.taken_by_me, { n: number, left }), { good: true, link: toHolds() });
  } else if (problem?.code === "SEAT_TAKEN") {
    change(seatId, "HELD");
    notice(fill(texts.seats.taken_by_other, { n: number }));
  } else if (problem && OUTSIDE.includes(problem.code)) leave();
  else notice(problem ? word.problem(problem, waitMs) : fill(texts.holds.no_answer_take, { n: number }));
  map.tell();
}

async function pay(hold) {
  const what = `pay:${user}:${hold.reservationId}`;
  const path = `/user-concert/payment/${user}/${hold.reservationId}`;
  const { content, problem } = await ask("POST", path, { key: keyFor(what) });
  if (content || isFinal(problem)) answered(what);
  if (content) {
    setBalance(content.balance);
    return bought(hold);
  }
  if (problem?.code === "INSUFFICIENT_POINTS") {
    await lookAtPoints();
    purse.open(hold, balance);
    return undefined;
  }
  if (problem?.code === "HOLD_EXPIRED") holds.lose(hold);
  const told = problem ? word.problem(problem) : texts.holds.no_answer_pay;
  holds.note(hold, told);
  // A hold that is over soon says again whether it can be paid for.
  if (LIMITS.includes(problem?.code)) notice(told);
  else say(told);
  // It may have been paid all the same.
  return lookAtOwn();
}

// The seat is paid for. With nothing else held there is nothing left to do here.
function bought(hold) {
  own = own.map((one) => (one.reservationId === hold.reservationId ? { ...one, state: "PAID" } : one));
  holds.remove(hold);
  const receipt = `/receipt/${hold.reservationId}`;
  if (holds.live().length === 0) {
    watcher.stop();
    location.replace(receipt);
    return;
  }
  paint();
  const link = [receipt, texts.holds.receipt];
  notice(fill(texts.holds.paid, { n: hold.number }), { good: true, link });
}

async function giveUp(hold) {
  const { content, problem } = await ask("DELETE", `/reservation/${hold.reservationId}`);
  if (content) {
    own = own.filter((one) => one.reservationId !== hold.reservationId);
    holds.remove(hold);
    change(hold.seatId, "FREE");
    notice(fill(texts.holds.given_up, { n: hold.number }), { good: true });
    return;
  }
  holds.note(hold, problem ? word.problem(problem) : texts.holds.no_answer_give_up);
  await lookAtOwn();
}

async function lookAtPoints() {
  const { content } = await ask("GET", `/user/${user}/point`);
  if (content) setBalance(content.balance);
}

function setBalance(points) {
  balance = points;
  at("balance").textContent = word.number(points);
}

function onCharged(content, hold) {
  setBalance(content.balance);
  const done = fill(texts.charge.done, { n: word.number(content.charged), balance: word.number(content.balance) });
  // The time of the hold may be over by now.
  if (!hold || !holds.isPayable(hold)) return notice(done, { good: true });
  const missing = hold.price - content.balance;
  const name = missing > 0 ? "still_missing" : "then_pay";
  notice(`${done} ${fill(texts.charge[name], { n: hold.number, missing: word.number(missing) })}`, { good: missing <= 0 });
  if (missing > 0) return purse.open(hold, content.balance, { again: true });
  return holds.focus(hold);
}

// The pass is over; what is held is not.
function leave() {
  watcher.stop();
  const focused = at("inside").contains(document.activeElement);
  at("inside").hidden = true;
  at("outside").hidden = false;
  at("outside-why").textContent = holds.live().length > 0 ? texts.seats.outside_holds : texts.seats.outside_note;
  hushNotice();
  say(texts.seats.outside);
  if (focused) at("outside-title").focus();
}

at("charge").addEventListener("click", () => purse.open(undefined, balance));
at("still").addEventListener("close", () => {
  lookAtOwn();
  watcher.start();
});

hall.hidden = false;
lookAtPoints();
if (hall.dataset.inside === "yes") watcher.start();
else lookAtOwn();
