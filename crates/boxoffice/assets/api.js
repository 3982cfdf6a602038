// Asks the box office, and learns its time of day from every answer.

const PATIENCE_MS = 10_000;

// The box office's time of day, however wrong the clock of this machine is. An answer's `Date` is in whole seconds and
// already old, so the latest time that any answer proves is the nearest one.
let ahead = -Infinity;

export const serverNow = () => performance.now() + ahead;

// Takes the time of the next answer as it is, should the server's clock have been set back.
export function forgetTime() {
  ahead = -Infinity;
}

// Gives `{content}`, `{problem}` or, without an answer of use, `{}`; `waitMs` if told when to try again.
export async function ask(method, path, { body, key } = {}) {
  const headers = { Accept: "application/json" };
  if (body) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  try {
    const answer = await fetch(path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const at = Date.parse(answer.headers.get("date"));
    if (at) ahead = Math.max(ahead, at - performance.now());
    const waitMs = 1_000 * (Number(answer.headers.get("retry-after")) || 0);
    if (answer.status === 204) return { content: {} };
    const content = await answer.json();
    return answer.ok ? { content } : { problem: content, waitMs };
  } catch {
    // A proxy's own page for an error is no JSON: as good as no answer.
    return {};
  }
}
