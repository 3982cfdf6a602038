// Numbers and lengths of time in the words of the page.

export function words(texts, language) {
  const numbers = new Intl.NumberFormat(language);
  const many = (section, name, n) => fill(section[n === 1 ? `${name}_one` : `${name}_many`], { n: numbers.format(n) });
  return {
    number: (n) => numbers.format(n),
    many,
    // For a clock that runs: 4:05.
    countdown(ms) {
      const left = Math.max(0, Math.floor(ms / 1_000));
      return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    },
    // For a sentence: 5 minutes.
    length(ms) {
      const seconds = Math.max(0, Math.round(ms / 1_000));
      if (seconds < 60) return fill(texts.holds.seconds_many, { n: seconds });
      return many(texts.holds, "minutes", Math.round(seconds / 60));
    },
    // The sentence for a problem that the API has answered; `waitMs` is how long to wait before trying again.
    problem(problem, waitMs = 0) {
      return fill(texts.problem[problem.code] ?? texts.problem.other, { wait: this.length(waitMs) });
    },
  };
}

export function fill(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
}
