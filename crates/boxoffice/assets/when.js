// Tells every moment on the page anew, as the reader's own clock and language have it.

const FORMS = {
  day: { dateStyle: "full" },
  time: { timeStyle: "short" },
  both: { dateStyle: "full", timeStyle: "short" },
  short: { dateStyle: "medium", timeStyle: "short" },
};

const language = document.documentElement.lang;
for (const told of document.querySelectorAll("time[data-local]")) {
  const form = new Intl.DateTimeFormat(language, FORMS[told.dataset.local]);
  told.textContent = form.format(Date.parse(told.dateTime));
}
