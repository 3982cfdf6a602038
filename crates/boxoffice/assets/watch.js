// When to look at the seats again.
//
// Each look renews the pass. So there is one only while the tab is seen and somebody was active in it of late: an
// empty chair must not keep a place inside from those who wait.

const LOOK_MS = 2_000;
const IDLE_MS = 120_000;
const BACKOFF_MS = [2_000, 4_000, 8_000, 15_000, 30_000];
const SIGNS_OF_LIFE = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "scroll"];

// `look` gives whether it was answered, and how long to wait at least; `onIdle` is told once that nobody is there.
export function watch(look, onIdle) {
  let timer;
  let running = false;
  let looking = false;
  let failures = 0;
  let active = performance.now();

  const seen = () => document.visibilityState === "visible";
  const idle = () => performance.now() - active > IDLE_MS;

  async function turn() {
    clearTimeout(timer);
    if (!running || looking || !seen()) return;
    if (idle()) {
      stop();
      onIdle();
      return;
    }
    looking = true;
    const { answered, waitMs = 0 } = await look();
    looking = false;
    failures = answered ? 0 : failures + 1;
    const pause = answered ? LOOK_MS : BACKOFF_MS[Math.min(failures, BACKOFF_MS.length) - 1];
    // Spread out, so that a crowd does not come back as one.
    if (running) timer = setTimeout(turn, Math.max(waitMs, pause) * (0.9 + 0.2 * Math.random()));
  }

  function start() {
    running = true;
    active = performance.now();
    turn();
  }

  function stop() {
    running = false;
    clearTimeout(timer);
  }

  for (const sign of SIGNS_OF_LIFE) {
    addEventListener(sign, () => (active = performance.now()), { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    if (seen()) active = performance.now();
    turn();
  });
  addEventListener("online", turn);
  return { start, stop };
}
