// The people of the service and their roles.

import { api, session } from "../../api.js";
import { attempt, button, field, h, written } from "../../dom.js";

const ROLES = [
  ["reviewer", "judges, adds documents"],
  ["reader", "reads only"],
  ["admin", "also manages users"],
];

export async function usersView(_params, signal) {
  const list = h("div", {}),
    fresh = h("div", { role: "status" });
  const refresh = async () => list.replaceChildren(people(await api.users(signal), refresh));
  await refresh();
  return {
    title: "People",
    node: h(
      "div",
      { class: "narrow" },
      h("h1", {}, "People"),
      h("section", { class: "card" }, h("h2", {}, "Add a person"), addForm(fresh, refresh), fresh),
      h("section", { class: "card" }, h("h2", {}, "Everybody"), list),
      h(
        "p",
        {},
        h("a", { href: "api/audit.csv", download: "" }, "Audit trail (CSV)"),
        ": who signed in, and what was set, exported, and done to users and models.",
      ),
    ),
  };
}

function addForm(fresh, refresh) {
  const name = h("input", { name: "name", required: true, maxlength: "100", autocomplete: "off" });
  const role = h(
    "select",
    { name: "role" },
    ROLES.map(([key, meaning]) => h("option", { value: key }, `${key}: ${meaning}`)),
  );
  const error = h("p", { class: "error", role: "alert" });
  const add = async event => {
    event.preventDefault();
    error.textContent = "";
    try {
      fresh.replaceChildren(tokenCard(await api.addUser(name.value.trim(), role.value)));
      name.value = "";
      refresh().catch(() => {});
    } catch (problem) {
      error.textContent = `Not added: ${problem.message}`;
    }
  };
  return h(
    "form",
    { on: { submit: add } },
    h("div", { class: "pair" }, field("Name", name), field("Role", role)),
    error,
    h("p", {}, h("button", { type: "submit", class: "primary" }, "Add")),
  );
}

export function tokenCard({ name, token }) {
  const code = h("code", {}, token);
  const copy = button("Copy", {}, async () => {
    try {
      await navigator.clipboard.writeText(token);
      copy.textContent = "Copied";
    } catch {
      // without HTTPS a browser does not let pages copy
      getSelection().selectAllChildren(code);
    }
  });
  return h(
    "div",
    { class: "token" },
    h(
      "p",
      {},
      "The token of ",
      h("strong", {}, written(name)),
      ". It is not shown again; the service keeps only its hash.",
    ),
    h("p", { class: "row" }, code, copy),
  );
}

const people = (users, refresh) =>
  h(
    "ul",
    { class: "rows people" },
    users.map(({ name, role }) =>
      h(
        "li",
        {},
        h("span", { class: "grow" }, written(name)),
        h("span", { class: "tag" }, role),
        name === session.value.user
          ? h("span", { class: "soft" }, "you")
          : button("Remove", { class: "quiet", "aria-label": `Remove ${name}` }, event =>
              askTwice(event.currentTarget, () => remove(name, refresh)),
            ),
      ),
    ),
  );

/** The first press asks for confirmation, the second runs. */
function askTwice(pressed, run) {
  if (pressed.dataset.sure) return run();
  pressed.dataset.sure = "yes";
  pressed.textContent = "Really remove?";
  pressed.removeAttribute("aria-label");
  pressed.classList.add("danger");
  return null;
}

const remove = (name, refresh) =>
  attempt(() => api.removeUser(name), {
    done: `${name} can no longer sign in. Their judgements stay.`,
    failed: "Not removed",
    then: refresh,
  });
