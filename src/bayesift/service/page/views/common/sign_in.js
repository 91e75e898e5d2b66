// Sign in with a token; on the first start, set up the first admin.

import { api } from "../../api.js";
import { button, field, h } from "../../dom.js";
import { tokenCard } from "./users.js";

export async function signInView() {
  const { may_set_up: isNew, single_sign_on: isKnownElsewhere } = await api
    .firstStart()
    .catch(() => ({ may_set_up: false, single_sign_on: false }));
  const token = h("input", {
    name: "token",
    type: "password",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
    "data-focus": !isNew,
  });
  const reveal = button("Show", { class: "quiet", "aria-pressed": "false" }, () => {
    const shown = token.type === "text";
    token.type = shown ? "password" : "text";
    reveal.textContent = shown ? "Show" : "Hide";
    reveal.setAttribute("aria-pressed", String(!shown));
  });
  const error = h("p", { class: "error", role: "alert" });
  const submit = h("button", { type: "submit", class: "primary" }, "Sign in");
  const form = h(
    "form",
    { class: "card", on: { submit: event => signIn(event, token, submit, error) } },
    field(
      "Your token",
      token,
      "An admin of this service gave it to you. The first start of the service prints the token of the first admin.",
    ),
    h("p", { class: "row" }, submit, reveal),
    error,
  );
  const place = h("div", {}, form);
  if (isKnownElsewhere) offerSingleSignOn(place);
  if (isNew) offerSetUp(place);
  return {
    title: "Sign in",
    node: h(
      "div",
      { class: "sign-in" },
      h("h1", {}, "Documents come in. You judge. It learns."),
      place,
    ),
  };
}

function offerSingleSignOn(place) {
  place.prepend(
    h(
      "section",
      { class: "card" },
      h(
        "p",
        {},
        h(
          "a",
          { href: "/sign-in", class: "button primary" },
          "Sign in with your company's account",
        ),
      ),
    ),
  );
}

/** On the machine of a new service only. */
function offerSetUp(place) {
  const name = h("input", {
    name: "name",
    autocomplete: "username",
    required: true,
    maxlength: "60",
    spellcheck: "false",
    "data-focus": true,
  });
  const error = h("p", { class: "error", role: "alert" });
  const submit = h("button", { type: "submit", class: "primary" }, "Set up");
  const setUp = async event => {
    event.preventDefault();
    submit.disabled = true;
    try {
      place.replaceChildren(newToken(await api.setUp(name.value.trim())));
    } catch (problem) {
      error.textContent = problem.message;
      submit.disabled = false;
    }
  };
  place.prepend(
    h(
      "form",
      { class: "card", on: { submit: setUp } },
      h("h2", {}, "This service is new"),
      field(
        "Your name",
        name,
        "You become its admin and get a token to sign in with. This is offered on this machine only.",
      ),
      h("p", { class: "row" }, submit),
      error,
    ),
  );
}

function newToken(user) {
  const error = h("p", { class: "error", role: "alert" });
  const enter = () =>
    api.signIn(user.token).catch(problem => {
      error.textContent = waitWords(problem);
    });
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Keep your token"),
    tokenCard(user),
    h("p", { class: "row" }, button("I have kept it: sign in", { class: "primary" }, enter)),
    error,
  );
}

async function signIn(event, token, submit, error) {
  event.preventDefault();
  error.textContent = "";
  submit.disabled = true;
  try {
    await api.signIn(token.value.trim());
  } catch (problem) {
    error.textContent =
      problem.status === 401 || problem.status === 422
        ? "This token is not known. Check that you copied all of it."
        : waitWords(problem);
    token.setAttribute("aria-invalid", "true");
    token.focus();
  } finally {
    submit.disabled = false;
  }
}

const waitWords = problem =>
  problem.status === 429
    ? `Too many attempts. Try again in ${problem.retryAfter ?? 60} seconds.`
    : problem.message;
