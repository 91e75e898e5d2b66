// Sign in with a token.

import { api } from "../api.js";
import { button, field, h } from "../dom.js";

export function signInView() {
  const token = h("input", { name: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false", "data-focus": true });
  const reveal = button("Show", { class: "quiet", "aria-pressed": "false" }, () => {
    const shown = token.type === "text";
    token.type = shown ? "password" : "text";
    reveal.textContent = shown ? "Show" : "Hide";
    reveal.setAttribute("aria-pressed", String(!shown));
  });
  const error = h("p", { class: "error", role: "alert" });
  const submit = h("button", { type: "submit", class: "primary" }, "Sign in");
  const form = h("form", { class: "card", on: { submit: event => signIn(event, token, submit, error) } },
    field("Your token", token, "An admin of this service gave it to you. The first start of the service prints the token of the first admin."),
    h("p", { class: "row" }, submit, reveal), error);
  return {
    title: "Sign in",
    node: h("div", { class: "sign-in" }, h("h1", {}, "Documents come in. You judge. It learns."), form),
  };
}

async function signIn(event, token, submit, error) {
  event.preventDefault();
  error.textContent = "";
  submit.disabled = true;
  try {
    await api.signIn(token.value.trim());
  } catch (problem) {
    error.textContent = problem.status === 401 || problem.status === 422 ? "This token is not known. Check that you copied all of it." : waitWords(problem);
    token.setAttribute("aria-invalid", "true");
    token.focus();
  } finally {
    submit.disabled = false;
  }
}

const waitWords = problem =>
  problem.status === 429 ? `Too many attempts. Try again in ${problem.retryAfter ?? 60} seconds.` : problem.message;
