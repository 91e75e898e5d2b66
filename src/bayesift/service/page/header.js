// The bar on top: navigation, whether everything is saved, the signed-in user.

import { api, mayDo, session } from "./api.js";
import { attempt, button, byId, h, sign, unseen, written } from "./dom.js";
import { showHelp } from "./help.js";
import { outboxState, sendNow } from "./outbox.js";
import { plural } from "./format.js";

const THEMES = { "": ["◐", "system"], light: ["☀", "light"], dark: ["☾", "dark"] };

const saved = h("p", { id: "saved", class: "saved", role: "status" });
outboxState.watch(state => saved.replaceChildren(...savedWords(state)));

export function drawHeader(hash) {
  const signedIn = session.value !== null;
  byId("header").replaceChildren(
    h(
      "a",
      { class: "brand", href: "#/reviews" },
      h("img", { src: "static/icon.svg", alt: "", width: "24", height: "24" }),
      "bayesift",
    ),
    ...(signedIn ? [navigation(hash), saved] : []),
    h(
      "div",
      { class: "tools" },
      signedIn &&
        button(
          [sign("?"), unseen("Help and keys")],
          { class: "icon", title: "Help and keys (?)" },
          showHelp,
        ),
      themeButton(),
      signedIn &&
        h(
          "span",
          { class: "who" },
          written(session.value.user),
          h("small", {}, session.value.role),
        ),
      signedIn &&
        button("Sign out", { class: "quiet" }, () =>
          attempt(api.signOut, { failed: "Not signed out" }),
        ),
    ),
  );
}

function navigation(hash) {
  const links = [
    ["#/reviews", "Reviews"],
    ["#/", "Filters"],
    ["#/models", "Models"],
    ...(mayDo("reviewer") ? [["#/add", "Add documents"]] : []),
    ...(mayDo("admin") ? [["#/users", "People"]] : []),
  ];
  const here =
    hash === "" || /^#\/(review|new-review)/.test(hash)
      ? "#/reviews"
      : /^#\/model/.test(hash)
        ? "#/models"
        : (["#/add", "#/users"].find(each => hash.startsWith(each)) ?? "#/");
  return h(
    "nav",
    { "aria-label": "Main" },
    links.map(([href, label]) =>
      h("a", { href, "aria-current": href === here ? "page" : null }, label),
    ),
  );
}

function savedWords({ waiting, failing }) {
  if (!waiting) return [sign("✓ "), "All saved"];
  if (!failing) return [sign("… "), `Saving ${waiting}`];
  return [
    h("strong", {}, sign("! "), `${plural(waiting, "change")} not saved yet.`),
    " ",
    failing,
    " ",
    button("Send now", { class: "quiet" }, sendNow),
  ];
}

function themeButton() {
  const current = document.documentElement.dataset.theme ?? "";
  const [glyph, name] = THEMES[current];
  const order = Object.keys(THEMES);
  return button(
    [sign(glyph), unseen(`Theme: ${name}. Change`)],
    { class: "icon", title: `Theme: ${name}` },
    event => {
      const next = order[(order.indexOf(current) + 1) % order.length];
      if (next) document.documentElement.dataset.theme = next;
      else delete document.documentElement.dataset.theme;
      localStorage.setItem("bayesift.theme", next);
      const fresh = themeButton();
      event.currentTarget.replaceWith(fresh);
      fresh.focus();
    },
  );
}
