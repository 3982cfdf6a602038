// Names for requests that may have been done without us hearing of it. The same request keeps its name, through a
// reload too, until it is answered; so it is done once however often it is sent.

const name = (what) => `boxoffice:${what}`;

export function keyFor(what) {
  try {
    const known = sessionStorage.getItem(name(what));
    const key = known ?? random();
    sessionStorage.setItem(name(what), key);
    return key;
  } catch {
    return unkept.get(what) ?? keep(what);
  }
}

export function answered(what) {
  unkept.delete(what);
  try {
    sessionStorage.removeItem(name(what));
  } catch {
    // Nothing was kept there.
  }
}

// Whether a problem says that nothing was done. Of one on the server's side that is not known.
export const isFinal = (problem) => Boolean(problem) && problem.status < 500;

// For browsers that keep nothing: lasts as long as the page.
const unkept = new Map();

function keep(what) {
  unkept.set(what, random());
  return unkept.get(what);
}

function random() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
