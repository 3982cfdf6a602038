// Numbers and times in the words of the page. The server's `span.rs` has the same bands.

export function words(texts, language) {
  const numbers = new Intl.NumberFormat(language);
  const minutes = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
  const seconds = new Intl.DateTimeFormat(language, { timeStyle: "medium" });
  const span = (name, values) => fill(texts.span[name], values);

  function band({ low, high }) {
    if (high < 60) return span("under_minute");
    if (high >= 86_400) return span("day");
    if (high >= 5_400) return hours(low, high);
    const [from, to] = [Math.floor(low / 60), Math.ceil(high / 60)];
    if (from === 1 && to === 1) return span("minute");
    if (from === 0) return span("minutes_up_to", { n: to });
    if (from === to) return span("minutes", { n: to });
    return span("minutes_band", { low: from, high: to });
  }

  function hours(low, high) {
    const [from, to] = [hourMinutes(Math.floor(low / 600) * 10), hourMinutes(Math.ceil(high / 600) * 10)];
    return from === to ? span("hours", { n: to }) : span("hours_band", { low: from, high: to });
  }

  function hourMinutes(all) {
    const [h, m] = [Math.floor(all / 60), all % 60];
    return span(h === 0 ? "minute_only" : m === 0 ? "hour_only" : "hour_minutes", { h, m });
  }

  return {
    band,
    number: (n) => numbers.format(n),
    people: (n) => fill(n === 1 ? texts.wait.people_one : texts.wait.people_many, { n: numbers.format(n) }),
    seats: (n) => (n === 0 ? texts.wait.seats_none : fill(texts.wait.seats_left, { n: numbers.format(n) })),
    clock: (ms) => minutes.format(ms),
    exactClock: (ms) => seconds.format(ms),
    countdown(ms) {
      const left = Math.max(0, Math.ceil(ms / 1_000));
      return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    },
  };
}

export function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}
