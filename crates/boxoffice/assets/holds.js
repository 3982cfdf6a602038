// The seats that one holds: how long, for how much, and what can be done about it.

import { fill } from "./words.js";

const TICK_MS = 500;
// When a screen reader is told how much is left.
const WARNINGS_MS = [120_000, 60_000, 30_000];

const at = (id) => document.getElementById(id);

// `lateMs` is how long a hold can be paid for after its end; `onPay(hold)`, `onDrop(hold)` for what is pressed;
// `onOver()` when the time of a hold seems to be over; `say(text)`.
export function holdsPanel({ date, lateMs, texts, word, onPay, onDrop, onOver, say }) {
  // By reservation: the hold, when it ends by `performance.now()`, its element, whether it is over, whether it can no
  // longer be paid for, and what is being done.
  const cards = new Map();
  let asked = 0;

  const live = () => [...cards.values()].filter((card) => !card.over).map(({ hold }) => hold);
  const left = ({ endsAt }) => endsAt - performance.now();

  // All reservations as the server listed them during `span`. Gives those that were held here and are paid by now.
  function show(reservations, span) {
    const paid = [];
    for (const hold of reservations) {
      const card = cards.get(hold.reservationId);
      if (hold.state === "HELD") put(hold, span);
      else if (card && hold.state === "PAID") paid.push(hold);
      else if (card && hold.state === "CANCELLED") remove(hold);
      else if (card && hold.state === "EXPIRED" && !card.over) runOut(card);
    }
    paint();
    return paid;
  }

  function put(hold, span) {
    const known = cards.get(hold.reservationId);
    if (known) {
      known.endsAt = endOf(hold, span, known.endsAt);
      return;
    }
    for (const other of cards.values()) if (other.over && other.hold.seatId === hold.seatId) remove(other.hold);
    const element = at("hold").content.firstElementChild.cloneNode(true);
    const card = { hold, endsAt: endOf(hold, span), element, over: false, note: "", warned: hold.remainingMs };
    element.querySelector(".pay").addEventListener("click", () => press(card, onPay, texts.holds.paying));
    element.querySelector(".drop").addEventListener("click", () => {
      if (card.over) remove(hold);
      else press(card, onDrop);
    });
    name(card);
    cards.set(hold.reservationId, card);
    at("holds").append(element);
  }

  // Clocks do not matter: the server says how long is left, at some time during `span`. What is known of the end stays
  // as it is where it agrees with that.
  function endOf({ remainingMs }, [from, to], known = -Infinity) {
    return Math.min(Math.max(known, from + remainingMs), to + remainingMs);
  }

  function name({ hold, element, over }) {
    const values = { n: hold.number, price: word.number(hold.price) };
    const part = (kind) => element.querySelector(kind);
    part(".hold-name").textContent = fill(texts.seats.seat, values);
    part(".hold-price").textContent =
      String(hold.concertDateId) === date ? fill(texts.seats.band, values) : texts.holds.another_date;
    part(".pay").textContent = fill(texts.holds.pay, values);
    part(".pay").setAttribute("aria-label", fill(texts.holds.pay_label, values));
    part(".drop").textContent = over ? texts.holds.dismiss : texts.holds.give_up;
    if (over) part(".drop").removeAttribute("aria-label");
    else part(".drop").setAttribute("aria-label", fill(texts.holds.give_up_label, values));
  }

  // A second press while the first is under way is none.
  async function press(card, act, meanwhile) {
    if (card.busy) return;
    card.busy = true;
    const buttons = card.element.querySelectorAll("button");
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
    if (meanwhile) card.element.querySelector(".pay").textContent = meanwhile;
    note(card.hold, "");
    await act(card.hold);
    card.busy = false;
    for (const button of buttons) button.removeAttribute("aria-disabled");
    name(card);
  }

  // What is said on a hold itself.
  function note({ reservationId }, text) {
    const card = cards.get(reservationId);
    if (!card) return;
    card.note = text;
    const into = card.element.querySelector(".hold-note");
    into.textContent = text;
    into.hidden = !text;
  }

  function runOut(card) {
    card.over = true;
    card.overAt = performance.now();
    card.element.classList.add("over");
    name(card);
    say(fill(texts.holds.ran_out, { n: card.hold.number }));
    note(card.hold, texts.holds.ran_out_unknown);
  }

  const isLate = (card) => left(card) <= -lateMs;

  // Whether a hold that is over can still be paid for: for a short while, and while nobody else has the seat.
  function judge(card, state) {
    const taken = state !== "FREE";
    const late = isLate(card);
    card.lost = taken || late;
    card.element.querySelector(".pay").hidden = card.lost;
    const open = late ? texts.holds.ran_out_late : texts.holds.ran_out_free;
    note(card.hold, taken ? texts.holds.ran_out_taken : open);
  }

  // The states of the seats, by id, as they were when they were asked for: a hold that lasted until then was this one.
  function seen(states, askedAt) {
    for (const card of cards.values()) {
      const news = card.over && !card.busy && card.overAt < askedAt;
      if (news && states.has(card.hold.seatId)) judge(card, states.get(card.hold.seatId));
    }
  }

  function lose(hold) {
    const card = cards.get(hold.reservationId);
    if (!card) return;
    if (!card.over) runOut(card);
    judge(card, "SOLD");
  }

  function remove({ reservationId }) {
    const card = cards.get(reservationId);
    if (!card) return;
    cards.delete(reservationId);
    const focused = card.element.contains(document.activeElement);
    card.element.remove();
    paint();
    if (focused) focusNext();
  }

  // Whoever pressed a button that is gone goes on with the next hold, else at the top of the panel.
  function focusNext() {
    (at("holds").querySelector(".pay:not([hidden])") ?? at("holds-title")).focus();
  }

  // Whether it can still be paid for, as far as is known here.
  function isPayable({ reservationId }) {
    const card = cards.get(reservationId);
    return card !== undefined && !card.lost;
  }

  function focus({ reservationId }) {
    cards.get(reservationId)?.element.querySelector(".pay").focus();
  }

  function paint() {
    at("none").hidden = cards.size > 0;
    const held = live();
    const price = held.reduce((sum, hold) => sum + hold.price, 0);
    const total = held.length > 1 ? fill(texts.holds.total, { n: held.length, price: word.number(price) }) : "";
    at("total").textContent = total;
    tick();
  }

  function tick() {
    for (const card of cards.values()) {
      const shown = card.element.querySelector(".hold-left");
      const ms = left(card);
      shown.textContent = card.over ? "" : word.countdown(ms);
      shown.classList.toggle("soon", ms < 60_000);
      if (card.over) {
        if (!card.lost && !card.busy && isLate(card)) judge(card, "FREE");
        continue;
      }
      warn(card, ms);
      if (ms <= 0) over();
    }
  }

  function warn(card, ms) {
    const passed = WARNINGS_MS.find((mark) => card.warned > mark && ms <= mark && ms > mark / 2);
    card.warned = ms;
    if (passed) say(fill(texts.holds.warn, { n: card.hold.number, left: word.length(ms) }));
  }

  // Only the server ends a hold. It is asked once a second until it says so.
  function over() {
    if (performance.now() - asked < 1_000) return;
    asked = performance.now();
    onOver();
  }

  setInterval(tick, TICK_MS);
  return { show, put, note, seen, lose, remove, isPayable, focus, live, paint };
}
