// Asks the box office.

const PATIENCE_MS = 10_000;

// Gives `{content}`, `{problem}` or, without an answer of use, `{}`; `waitMs` if told when to try again. The answer was
// made during `span`, the times of `performance.now()` between which it was waited for.
export async function ask(method, path, { body, key } = {}) {
  const headers = { Accept: "application/json" };
  if (body) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const askedAt = performance.now();
  try {
    const answer = await fetch(path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const span = [askedAt, performance.now()];
    const waitMs = 1_000 * (Number(answer.headers.get("retry-after")) || 0);
    if (answer.status === 204) return { content: {} };
    const content = await answer.json();
    return answer.ok ? { content, span } : { problem: content, waitMs };
  } catch {
    // A proxy's own page for an error is no JSON: as good as no answer.
    return {};
  }
}
