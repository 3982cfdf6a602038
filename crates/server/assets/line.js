// Joining and leaving. However often and from however many tabs a browser joins, it has one place.

import { ask } from "./source.js";

export async function join(room, memory) {
  const answer = await ask("POST", "/api/v1/queue/tokens", {
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": await memory.key(randomKey()),
    },
    body: JSON.stringify({ room }),
  });
  // From here on the cookie names the place.
  if (answer.place) await memory.forgetKey();
  return answer;
}

export function leave(room) {
  return ask("DELETE", `/api/v1/queue/tokens?room=${encodeURIComponent(room)}`);
}

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
