// Where news of a place comes from.
//
// A source has `start(onPlace, onEnd, onTrouble, afterMs)` and `stop()`; who knows the place already has news
// only after `afterMs`. It calls
//   onPlace(place, now)   a place view, and the server's time of day in ms
//   onEnd(problem)        the place has ended, or there is none; the source has stopped
//   onTrouble(problem)    no answer, or none of use (problem may be null); the source goes on trying
// This one asks as often as it is told to. One that is told by the server can take its place.

const PATIENCE_MS = 10_000;
const BACKOFF_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
// A tab that is looked at again asks at once, but not again and again while somebody flips through tabs.
const GLANCE_MS = 1_000;
const ENDED = ["TOKEN_INVALID", "TOKEN_EXPIRED", "TOKEN_NOT_FOUND", "ROOM_NOT_FOUND"];

// Asks the API. Gives `{place}`, `{problem}` or, without an answer, `{}`; `waitMs` if told when to try again.
export async function ask(method, path, { headers = {}, body } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body,
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const now = Date.parse(answer.headers.get("date")) || Date.now();
    const waitMs = 1_000 * (Number(answer.headers.get("retry-after")) || 0);
    if (answer.status === 204) return { done: true, now };
    const content = await answer.json();
    return answer.ok ? { place: content, now } : { problem: content, waitMs, now };
  } catch {
    // A proxy's own page for an error is no JSON: as good as no answer.
    return {};
  }
}

export function poll({ room, seen }) {
  let timer;
  let running = false;
  let asking = false;
  let failures = 0;
  let lastAsked = 0;
  let heard = {};

  async function turn() {
    if (!running || asking) return;
    clearTimeout(timer);
    asking = true;
    lastAsked = Date.now();
    const path = `/api/v1/queue/status?room=${encodeURIComponent(room)}`;
    const { version = 0, ahead, ordinal } = seen() ?? {};
    const headers = { "X-Queue-Version": String(version) };
    if (ordinal) headers["X-Queue-Ahead"] = `${ahead};ordinal=${ordinal}`;
    const answer = await ask("GET", path, { headers });
    asking = false;
    if (running) take(answer);
  }

  function take({ place, problem, waitMs, now }) {
    if (place) {
      failures = 0;
      again(place.pollAfterMs);
      heard.onPlace(place, now);
    } else if (problem && ENDED.includes(problem.code)) {
      stop();
      heard.onEnd(problem);
    } else {
      const step = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)];
      failures += 1;
      // Spread out, so that a crowd does not come back as one.
      again(Math.max(waitMs || 0, step) * (0.8 + 0.4 * Math.random()));
      heard.onTrouble(problem || null);
    }
  }

  function again(delayMs) {
    clearTimeout(timer);
    timer = setTimeout(turn, delayMs);
  }

  function glance() {
    if (document.visibilityState === "visible" && Date.now() - lastAsked > GLANCE_MS) turn();
  }

  function start(onPlace, onEnd, onTrouble, afterMs = 0) {
    heard = { onPlace, onEnd, onTrouble };
    running = true;
    document.addEventListener("visibilitychange", glance);
    addEventListener("pageshow", glance);
    addEventListener("online", turn);
    if (afterMs > 0) again(afterMs);
    else turn();
  }

  function stop() {
    running = false;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", glance);
    removeEventListener("pageshow", glance);
    removeEventListener("online", turn);
  }

  return { start, stop };
}
