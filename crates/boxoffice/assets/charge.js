// Charging points, on its own or because a seat costs more than there is.

import { ask } from "./api.js";
import { answered, isFinal, keyFor } from "./keys.js";
import { fill } from "./words.js";

const AMOUNT_MAX = 100_000_000;

const at = (id) => document.getElementById(id);

// `onCharged(content, hold)` is told the new balance, and the hold that the points were missing for. It may open the dialog
// again, since somebody may charge less than is missing.
export function charging({ user, texts, word, onCharged }) {
  const form = at("charge-form");
  const go = at("charge-go");
  let hold;
  let busy = false;

  // `again` if less was charged just now than is missing: then just the rest is proposed.
  function open(forHold, balance, { again = false } = {}) {
    hold = forHold;
    trouble("");
    form.reset();
    const missing = hold ? hold.price - balance : 0;
    at("missing").hidden = missing <= 0;
    at("missing").textContent = missing > 0 ? lacking(balance, missing) : "";
    at("charging").showModal();
    if (again) just(missing);
    else choose(missing);
  }

  function lacking(balance, points) {
    const [have, price, missing] = [balance, hold.price, points].map((n) => word.number(n));
    return fill(texts.charge.missing, { have, n: hold.number, price, missing });
  }

  // Exactly this much, to be charged with one press.
  function just(points) {
    at("own").value = word.number(points);
    at("own").focus();
  }

  // The smallest choice that is enough; else just what is missing.
  function choose(missing) {
    const choices = [...form.elements.amount];
    const enough = choices.find(({ value }) => Number(value) >= missing);
    if (!enough) return just(missing);
    enough.checked = true;
    return enough.focus();
  }

  function amount() {
    const own = at("own").value.replace(/[,\s]/g, "");
    const text = own || form.elements.amount.value;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    return number >= 1 && number <= AMOUNT_MAX ? number : null;
  }

  function trouble(text) {
    at("charge-trouble").textContent = text;
    at("charge-trouble").hidden = !text;
  }

  async function charge() {
    const points = amount();
    if (busy) return;
    if (!points) {
      trouble(texts.charge.invalid);
      at("own").focus();
      return;
    }
    work(true);
    const what = `charge:${user}:${points}`;
    const { content, problem } = await ask("PATCH", `/user/charge/${user}/point`, {
      body: { amount: points },
      key: keyFor(what),
    });
    work(false);
    if (content || isFinal(problem)) answered(what);
    if (content) {
      at("charging").close();
      onCharged(content, hold);
    } else trouble(problem ? word.problem(problem) : texts.charge.no_answer);
  }

  function work(on) {
    busy = on;
    go.setAttribute("aria-disabled", String(on));
    go.textContent = on ? texts.charge.charging : texts.charge.go;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    charge();
  });
  // Whoever writes an amount does not mean the one chosen before, and the other way round.
  at("own").addEventListener("input", () => {
    for (const choice of form.elements.amount) choice.checked = false;
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name === "amount") at("own").value = "";
  });
  at("charge-cancel").addEventListener("click", () => at("charging").close());
  at("charging").addEventListener("cancel", (event) => {
    if (busy) event.preventDefault();
  });
  return { open };
}
