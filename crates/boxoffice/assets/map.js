// The seats as a picture that can be walked through with arrow keys. Each seat is drawn once and changes in place,
// so that whoever stands on it keeps standing there.

import { fill } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 10;
const [PITCH_X, PITCH_Y, WIDTH, HEIGHT, AISLE, STAGE] = [46, 46, 40, 38, 20, 58];
const BANDS = 6;
const MARKS = {
  SOLD: "M-8,-8 L8,8 M8,-8 L-8,8",
  MINE: "M11,-15 l3,3 l6,-7",
  BOUGHT: "M-9,0 l6,7 l12,-14",
};

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The shape of a seat around (0, 0): what it means is told by outline, mark and number, and not by colour alone.
function shape() {
  const parts = element("g", { class: "seat-body" });
  const [w, h] = [WIDTH / 2, HEIGHT / 2];
  const outline = `M${-w},${h - 4} V${-h + 12} a12,12 0 0 1 12,-12 H${w - 12} a12,12 0 0 1 12,12 V${h - 4} a4,4 0 0 1 -4,4 H${4 - w} a4,4 0 0 1 -4,-4 Z`;
  parts.append(
    element("path", { class: "seat-outline", d: outline }),
    element("text", { class: "seat-number", y: 6 }),
    element("circle", { class: "seat-badge", cx: 15.5, cy: -14.5, r: 8.5 }),
    element("path", { class: "seat-mark", d: "" }),
  );
  return parts;
}

function dress(seat, { state, band, number }) {
  seat.setAttribute("class", `seat seat-${state.toLowerCase()} band-${band}`);
  seat.querySelector(".seat-number").textContent = number;
  seat.querySelector(".seat-mark").setAttribute("d", MARKS[state] ?? "");
}

export function seatMap(svg, { texts, word, onChoose, onLook }) {
  let seats = [];
  let at = 0;
  const drawn = new Map();

  // Seats as the API lists them, with `state` being that of the person who looks. Gives the price bands.
  function show(list) {
    const bands = bandsOf(list);
    const known = seats.length === list.length && list.every(({ seatId }) => drawn.has(seatId));
    seats = list;
    if (!known) draw();
    for (const seat of seats) {
      const cell = drawn.get(seat.seatId);
      dress(cell, { ...seat, band: bandOf(bands, seat.price) });
      cell.setAttribute("aria-label", nameOf(seat));
      cell.setAttribute("aria-disabled", String(seat.state === "HELD" || seat.state === "SOLD"));
      cell.setAttribute("aria-selected", String(seat.state === "MINE" || seat.state === "BOUGHT"));
    }
    return bands;
  }

  const nameOf = ({ number, price, state }) =>
    fill(texts.seats.name_of, { n: number, price: word.number(price), state: texts.seats[state] });

  function draw() {
    drawn.clear();
    const rows = Math.ceil(seats.length / ROW);
    const width = ROW * PITCH_X + AISLE;
    const height = STAGE + rows * PITCH_Y;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const stage = element("g", { class: "stage", "aria-hidden": "true" });
    stage.append(
      element("path", { d: `M40,6 H${width - 40} L${width - 70},40 Q${width / 2},50 70,40 Z` }),
      element("text", { x: width / 2, y: 30 }, texts.seats.stage),
    );
    const lines = Array.from({ length: rows }, (_, row) => line(seats.slice(row * ROW, (row + 1) * ROW), row));
    svg.replaceChildren(stage, ...lines);
    svg.setAttribute("aria-rowcount", rows);
    stand(Math.min(at, seats.length - 1));
  }

  function line(list, row) {
    const made = element("g", { role: "row" });
    const cells = list.map((seat, column) => {
      const x = (column + 0.5) * PITCH_X + (column >= ROW / 2 ? AISLE : 0);
      const y = STAGE + (row + 0.5) * PITCH_Y;
      const cell = element("g", { role: "gridcell", tabindex: -1, transform: `translate(${x} ${y})` });
      // The whole of a seat's ground can be touched, up to its neighbours'.
      cell.append(element("rect", { class: "seat-ground", x: -PITCH_X / 2, y: -PITCH_Y / 2, width: PITCH_X, height: PITCH_Y }));
      cell.append(shape());
      cell.dataset.index = row * ROW + column;
      drawn.set(seat.seatId, cell);
      return cell;
    });
    made.append(...cells);
    return made;
  }

  const cellAt = (index) => drawn.get(seats[index]?.seatId);

  // One seat at a time can be reached by Tab.
  function stand(index) {
    cellAt(at)?.setAttribute("tabindex", -1);
    at = index;
    cellAt(at)?.setAttribute("tabindex", 0);
  }

  function walk(event) {
    const column = at % ROW;
    const [first, last] = [0, seats.length - 1];
    const steps = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at - ROW,
      ArrowDown: at + ROW,
      Home: event.ctrlKey ? first : at - column,
      End: event.ctrlKey ? last : Math.min(at - column + ROW - 1, last),
    };
    const next = steps[event.key];
    if (next === undefined) return false;
    if (next >= first && next <= last) {
      stand(next);
      cellAt(next).focus();
    }
    return true;
  }

  svg.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const chosen = event.key === "Enter" || event.key === " ";
    if (chosen && !event.repeat) onChoose(seats[at]);
    if (chosen || walk(event)) event.preventDefault();
  });
  const seatOf = (target) => target.closest("[data-index]")?.dataset.index;
  svg.addEventListener("click", ({ target }) => {
    const index = seatOf(target);
    if (index === undefined) return;
    stand(Number(index));
    cellAt(at).focus({ preventScroll: true });
    onChoose(seats[at]);
  });
  for (const look of ["focusin", "pointerover"]) {
    svg.addEventListener(look, ({ target }) => {
      const index = seatOf(target);
      if (index !== undefined) onLook(nameOf(seats[index]));
    });
  }

  // Tells again of the seat that somebody stands on.
  const tell = () => onLook(nameOf(seats[at]));

  return { show, tell };
}

// What each price buys: the dearest first, with the first and last number.
function bandsOf(list) {
  const bands = new Map();
  for (const { price, number } of list) {
    const { from = number, to = number } = bands.get(price) ?? {};
    bands.set(price, { price, from: Math.min(from, number), to: Math.max(to, number) });
  }
  return [...bands.values()].sort((one, other) => other.price - one.price);
}

const bandOf = (bands, price) => Math.min(bands.findIndex((band) => band.price === price), BANDS - 1);

// The key to the map: what the shapes mean, and what the colours cost.
export function legend(into, bands, { texts, word }) {
  const entry = (look, text) => {
    const made = document.createElement("span");
    const picture = element("svg", { viewBox: "-26 -26 52 52", "aria-hidden": "true" });
    const seat = element("g", {});
    seat.append(shape());
    dress(seat, { number: "", ...look });
    picture.append(seat);
    made.append(picture, text);
    return made;
  };
  const states = ["FREE", "MINE", "BOUGHT", "HELD", "SOLD"];
  const meanings = states.map((state) => entry({ state, band: 0 }, texts.seats[`legend_${state}`]));
  const prices = bands.map(({ price, from, to }, index) => {
    const said = fill(texts.seats.band_seats, { price: word.number(price), from, to });
    return entry({ state: "FREE", band: Math.min(index, BANDS - 1) }, said);
  });
  const group = (list) => {
    const made = document.createElement("p");
    made.append(...list);
    return made;
  };
  into.replaceChildren(group(meanings), group(prices));
}
