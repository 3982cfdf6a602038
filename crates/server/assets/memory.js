// What a browser remembers of a place. It may forget all of it: the place itself is in a cookie.

export function memory(room) {
  const name = (part) => `ropeline:${room}:${part}`;
  const read = (store, part) => {
    try {
      return JSON.parse(store().getItem(name(part)));
    } catch {
      return null;
    }
  };
  const write = (store, part, value) => {
    try {
      if (value === null) store().removeItem(name(part));
      else store().setItem(name(part), JSON.stringify(value));
    } catch {
      // Storage that is full or forbidden costs the progress bar its start, nothing else.
    }
  };
  const local = () => localStorage;
  const tab = () => sessionStorage;

  return {
    // The place last seen: `{id, version, ordinal, ahead, from}`, `from` being the most that were ahead.
    place: () => read(local, "place"),
    see(place) {
      const id = `${place.ordinal}@${place.issuedAt}`;
      const known = read(local, "place");
      const same = known && known.id === id ? known : { version: 0, from: 0 };
      const seen = {
        id,
        version: Math.max(same.version, place.version),
        ordinal: place.ordinal,
        ahead: place.ahead,
        from: Math.max(same.from, place.ahead),
      };
      write(local, "place", seen);
      return seen;
    },
    forget: () => write(local, "place", null),

    // The key of a join that may have been answered without us hearing of it: `fresh`, unless there is one.
    // The database, unlike localStorage, lets one tab after the other at it, also on plain http.
    async key(fresh) {
      const joins = (keys, give) => {
        const known = keys.get(room);
        known.onsuccess = () => {
          give(known.result ?? fresh);
          if (!known.result) keys.put(fresh, room);
        };
      };
      return (await transact(joins)) ?? fresh;
    },
    forgetKey: () => transact((keys) => keys.delete(room)),

    // Why this tab has stopped, so that a reload does not join anew.
    ended: () => read(tab, "ended"),
    setEnded: (why) => write(tab, "ended", why),
  };
}

// What `work` gives within one transaction; nothing where the browser keeps no database.
async function transact(work) {
  try {
    const database = await opened();
    const change = database.transaction("keys", "readwrite");
    let given;
    work(change.objectStore("keys"), (value) => (given = value));
    await new Promise((done, fail) => {
      change.oncomplete = done;
      change.onabort = fail;
    });
    database.close();
    return given;
  } catch {
    return undefined;
  }
}

function opened() {
  return new Promise((done, fail) => {
    const opening = indexedDB.open("ropeline", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onsuccess = () => done(opening.result);
    opening.onerror = fail;
  });
}
