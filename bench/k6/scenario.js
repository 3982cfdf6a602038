// The load test of seed 002: from 1 to 1,000 users, a while with all of them, and back; a stage takes 30 s there.
//
// Each user joins the line, asks for their place until it is their turn, reserves a seat and leaves, again and again.
// `ropeline-bench k6` starts the server, runs this and reads the summary; by hand:
//
//     k6 run -e BASE=http://127.0.0.1:8080 -e ADMIN_KEY=... bench/k6/scenario.js
//
//     STAGE   seconds of each of the three stages (30)
//     THINK   seconds between the answer to a user and their next request (1)
//     USERS   how many (1000)
//     SUMMARY a file for the figures as JSON

import http from 'k6/http';
import { check, fail, sleep } from 'k6';
import { Counter, Gauge, Trend } from 'k6/metrics';
import exec from 'k6/execution';

const BASE = __ENV.BASE || 'http://127.0.0.1:8080';
const ADMIN_KEY = __ENV.ADMIN_KEY;
const STAGE = __ENV.STAGE || '30';
const THINK = Number(__ENV.THINK === undefined ? 1 : __ENV.THINK);
const USERS = Number(__ENV.USERS || 1000);

const SEATS = 30000;
// As many users as this fight for each seat of theirs that is contested.
const RIVALS = 20;
// Every so many reservations of a user are for a contested seat.
const CONTEST_EVERY = 5;

// What users asked and how long they waited; the preparations are not in it.
const waits = new Trend('waits', true);
const waitsOf = {
  join: new Trend('waits_join', true),
  status: new Trend('waits_status', true),
  reservation: new Trend('waits_reservation', true),
  leave: new Trend('waits_leave', true),
};
const answers = new Counter('answers');
const reserved = new Counter('seats_reserved');
const lost = new Counter('seats_lost_to_others');
const taken = new Gauge('seats_taken');
// The seats of this user.
const mine = new Set();

export const options = {
  scenarios: {
    crowd: {
      executor: 'ramping-vus',
      startVUs: 1,
      stages: [
        { duration: `${STAGE}s`, target: USERS },
        { duration: `${STAGE}s`, target: USERS },
        { duration: `${STAGE}s`, target: 1 },
      ],
      gracefulRampDown: '1s',
      gracefulStop: '1s',
    },
  },
  // One wrong answer fails the run.
  thresholds: { checks: ['rate==1'] },
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(99)'],
  setupTimeout: '120s',
};

// One concert with seats for all, and a login for every user.
export function setup() {
  const admin = { headers: { Authorization: `Bearer ${ADMIN_KEY}`, 'Content-Type': 'application/json' } };
  const concert = made(http.post(`${BASE}/api/v1/admin/concerts`, '{"title":"k6"}', admin));
  const dates = `${BASE}/api/v1/admin/concerts/${concert.concertId}/dates`;
  const plan = { startsAt: '2099-01-01T10:00:00Z', seats: [{ number: 1, to: SEATS, price: 100 }] };
  const date = made(http.post(dates, JSON.stringify(plan), admin));
  const logins = [];
  for (let user = 0; user < USERS; user += 1) {
    const body = JSON.stringify({ name: `k6 ${user}` });
    logins.push(made(http.post(`${BASE}/user`, body, { headers: { 'Content-Type': 'application/json' } })).accessToken);
  }
  return { logins, date: date.concertDateId, firstSeat: date.seats[0].seatId };
}

function made(answer) {
  if (answer.status !== 201) {
    fail(`the preparations were answered with ${answer.status}: ${answer.body}`);
  }
  return answer.json();
}

export default function visit(data) {
  const user = (exec.vu.idInTest - 1) % USERS;
  const login = { Authorization: `Bearer ${data.logins[user]}`, 'Content-Type': 'application/json' };
  const joined = ask('join', 'POST', '/api/v1/queue/tokens', '{}', login);
  const place = joined.json();
  const welcome = check(joined, {
    'a join is 201 with a token and a position': () =>
      joined.status === 201 && typeof place.token === 'string' && isPosition(place),
  });
  think();
  if (!welcome) {
    return;
  }
  const token = { 'X-Queue-Token': place.token };
  if (waitForTurn(place, token)) {
    reserve(data, user, token);
  }
  const left = ask('leave', 'DELETE', '/api/v1/queue/tokens', null, token);
  check(left, { 'leaving is 204': (answer) => answer.status === 204 });
  think();
}

// Asks at least once; says whether the user is inside.
function waitForTurn(place, token) {
  let ahead = place.ahead;
  for (;;) {
    const answer = ask('status', 'GET', '/api/v1/queue/status', null, token);
    const now = answer.json();
    const right = check(answer, {
      'status is 200 with a position': () => answer.status === 200 && isPosition(now),
      'the place is the one that the join gave': () => now.ordinal === place.ordinal,
      'nobody comes in between': () => now.ahead <= ahead,
    });
    think();
    if (!right || now.status === 'ACTIVE') {
      return right;
    }
    ahead = now.ahead;
  }
}

function isPosition(place) {
  switch (place.status) {
    case 'WAITING':
      return place.position >= 1 && place.ahead === place.position - 1;
    case 'ACTIVE':
      return place.position === 0 && place.ahead === 0 && place.expiresAt !== null;
    default:
      return false;
  }
}

function reserve(data, user, token) {
  const seat = data.firstSeat + seatOf(user, exec.vu.iterationInScenario);
  const answer = ask('reservation', 'POST', `/concert/${seat}/reservation`, null, token);
  const body = answer.json();
  check(answer, {
    'a reservation is 201 with the seat, or 409 because it is taken': () =>
      (answer.status === 201 && body.seatId === seat && body.state === 'HELD') ||
      (answer.status === 409 && body.code === 'SEAT_TAKEN'),
  });
  if (answer.status !== 201) {
    lost.add(1);
  } else if (!mine.has(seat)) {
    mine.add(seat);
    reserved.add(1);
  }
  think();
}

// Whoever comes often enough asks for seats again that they hold already, and is given them again.
function seatOf(user, visit) {
  if (visit % CONTEST_EVERY === 0) {
    const groups = Math.ceil(USERS / RIVALS);
    return ((visit / CONTEST_EVERY) * groups + (user % groups)) % SEATS;
  }
  return (SEATS - 1) - ((visit * USERS + user) % SEATS);
}

function ask(what, method, path, body, headers) {
  const answer = http.request(method, `${BASE}${path}`, body, { headers, tags: { name: what } });
  waits.add(answer.timings.duration);
  waitsOf[what].add(answer.timings.duration);
  answers.add(1);
  return answer;
}

// After an answer was looked at and counted: whoever is sent home meanwhile has nothing left to count.
function think() {
  if (THINK > 0) {
    sleep(THINK);
  }
}

// How many seats the box office says are taken: as many as were reserved, or one was sold to two.
export function teardown(data) {
  const login = { Authorization: `Bearer ${data.logins[0]}`, 'Content-Type': 'application/json' };
  const place = http.post(`${BASE}/api/v1/queue/tokens`, '{}', { headers: login }).json();
  const token = { headers: { 'X-Queue-Token': place.token } };
  for (let tries = 0; tries < 30; tries += 1) {
    const dates = http.get(`${BASE}/concert/dates`, token);
    if (dates.status === 200) {
      const date = dates.json().dates.find((one) => one.concertDateId === data.date);
      taken.add(SEATS - date.seatsLeft);
      return;
    }
    sleep(1);
  }
  fail('the seats that are left cannot be seen');
}

export function handleSummary(data) {
  const count = (name) => (data.metrics[name] ? data.metrics[name].values.count : 0);
  const trend = (name) => (data.metrics[name] ? data.metrics[name].values : null);
  const figures = {
    answers: count('answers'),
    waits: trend('waits'),
    requests: Object.fromEntries(Object.keys(waitsOf).map((what) => [what, trend(`waits_${what}`)])),
    reserved: count('seats_reserved'),
    lost: count('seats_lost_to_others'),
    taken: data.metrics.seats_taken ? data.metrics.seats_taken.values.value : null,
    wrong: data.metrics.checks ? data.metrics.checks.values.fails : null,
  };
  const text = `${JSON.stringify(figures, null, 2)}\n`;
  return __ENV.SUMMARY ? { [__ENV.SUMMARY]: text, stdout: text } : { stdout: text };
}
