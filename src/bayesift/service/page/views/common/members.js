// The members of a filter or review, the invitations to it, and what an invited person sees.

import { api, mayDo, session } from "../../api.js";
import { attempt, button, field, h, when, written } from "../../dom.js";
import { tokenCard } from "./users.js";

const ROLES = [
  ["reader", "sees everything that is not blind"],
  ["reviewer", "also decides and judges"],
  ["owner", "also changes settings and members"],
];

const roleChoice = (label, chosen) =>
  h(
    "select",
    { "aria-label": label },
    ROLES.map(([role, meaning]) =>
      h("option", { value: role, selected: role === chosen }, `${role}: ${meaning}`),
    ),
  );

/**
 * The members of a filter or review; owners can change them.
 * @param {string} base such as reviews/ID
 * @param {{role: string}} item
 * @param {AbortSignal} signal
 */
export async function membersCard(base, item, signal) {
  const isOwner = mayDo("owner", item);
  const list = h("ul", { class: "rows" });
  const open = h("div", {});
  const refresh = async () => {
    const members = await api.members(base, signal);
    list.replaceChildren(...members.map(member => row(base, member, isOwner, refresh)));
    if (!isOwner) return;
    const invitations = await api.invitations(base, signal);
    open.replaceChildren(
      ...invitations.map(each =>
        h(
          "p",
          { class: "row" },
          h("span", { class: "grow soft" }, `Invitation as ${each.role}, until `, when(each.until)),
          button("Take back", { class: "quiet" }, () =>
            attempt(() => api.removeInvitation(base, each.id), {
              failed: "Not taken back",
              then: refresh,
            }),
          ),
        ),
      ),
    );
  };
  await refresh();
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Members"),
    h("p", { class: "soft" }, "Other users do not see that this exists."),
    list,
    isOwner && [inviteForm(base, refresh), open],
  );
}

function row(base, { user, role }, isOwner, refresh) {
  const choice = roleChoice(`Role of ${user}`, role);
  choice.addEventListener("change", () =>
    attempt(() => api.setMember(base, user, choice.value), {
      done: `${user} is ${choice.value} now.`,
      failed: "Not changed",
      then: refresh,
    }).finally(refresh),
  );
  return h(
    "li",
    {},
    h("span", { class: "grow" }, written(user), user === session.value?.user ? " (you)" : ""),
    isOwner ? choice : h("span", { class: "tag" }, role),
    isOwner &&
      button("Remove", { class: "quiet", "aria-label": `Remove ${user}` }, () =>
        attempt(() => api.removeMember(base, user), {
          done: `${user} is not a member any more. What they did stays.`,
          failed: "Not removed",
          then: refresh,
        }),
      ),
  );
}

function inviteForm(base, refresh) {
  const role = roleChoice("Role of the invited person", "reviewer");
  const made = h("div", { role: "status" });
  const submit = event => {
    event.preventDefault();
    attempt(
      async () => {
        const { token } = await api.invite(base, role.value);
        const link = `${location.origin}${location.pathname}#/invitation/${token}`;
        made.replaceChildren(
          h("p", {}, "Send this link to one person. It works once, for seven days:"),
          h("p", {}, h("code", { class: "link" }, link)),
        );
      },
      { failed: "Not invited", then: refresh },
    );
  };
  return h(
    "form",
    { on: { submit } },
    h("h3", {}, "Invite a person"),
    field("Role", role),
    h("p", {}, h("button", { type: "submit", class: "primary" }, "Make a link")),
    made,
  );
}

/** What a person sees who opens an invitation. */
export async function invitationView({ token }) {
  const error = h("p", { class: "error", role: "alert" });
  const name = h("input", { required: true, maxlength: "60", autocomplete: "username" });
  const place = h("div", {});
  const accept = async event => {
    event.preventDefault();
    error.textContent = "";
    try {
      const joined = await api.accept(token, session.value ? null : name.value.trim());
      const view = joined.kind === "review" ? `#/review/${joined.name}` : `#/filter/${joined.name}`;
      if (!joined.token) {
        location.hash = view;
        return;
      }
      const enter = async () => {
        location.hash = view;
        await api.signIn(joined.token);
      };
      place.replaceChildren(
        h("h2", {}, "Keep your token"),
        tokenCard({ name: joined.user, token: joined.token }),
        h("p", {}, button("I have kept it: sign in", { class: "primary" }, enter)),
      );
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  place.append(
    h(
      "form",
      { on: { submit: accept } },
      session.value
        ? h("p", {}, "You accept as ", h("strong", {}, written(session.value.user)), ".")
        : field("Your name", name, "You get an account and a token to sign in with."),
      h("p", {}, h("button", { type: "submit", class: "primary" }, "Accept")),
      error,
    ),
  );
  return {
    title: "Invitation",
    node: h("section", { class: "card narrow" }, h("h1", {}, "You are invited"), place),
  };
}
