// All profiles, with their counts and learning curves.

import { api, mayDo } from "../api.js";
import { sparkline } from "../charts.js";
import { button, field, h, notify, openDialog, written } from "../dom.js";
import { count, plural, strategyName } from "../wording.js";
import { profileLink } from "./frame.js";

const REFRESH_EVERY = 10_000;
const TAKEN = 409;

export async function profilesView(_params, signal) {
  const list = h("div", {});
  const refresh = async () => list.replaceChildren(await profileCards(signal));
  await refresh();
  const timer = setInterval(() => { if (!document.hidden && !list.contains(document.activeElement)) refresh().catch(() => {}); }, REFRESH_EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    title: "Profiles",
    node: h("div", {},
      h("div", { class: "head" }, h("h1", {}, "Profiles"),
        mayDo("reviewer") && h("div", { class: "row" }, importButton(refresh), h("a", { class: "button primary", href: "#/new" }, "New profile"))),
      list),
  };
}

async function profileCards(signal) {
  const profiles = await api.profiles(signal);
  if (!profiles.length) return noProfiles();
  const curves = await Promise.all(profiles.map(({ name }) => api.curve(name, signal).catch(() => ({ points: [] }))));
  return h("ul", { class: "cards" }, profiles.map((profile, index) => card(profile, curves[index].points)));
}

function card(profile, points) {
  const { counters } = profile;
  const judged = counters.judged_relevant + counters.judged_irrelevant;
  return h("li", { class: "card profile-card" },
    h("div", { class: "card-head" },
      h("h2", {}, h("a", { href: profileLink(profile.name, "overview") }, written(profile.name))),
      profile.paused && h("span", { class: "tag" }, "paused"),
      profile.conflicts > 0 && h("a", { class: "tag warn", href: profileLink(profile.name, "conflicts") }, plural(profile.conflicts, "conflict"))),
    profile.query ? h("p", { class: "query" }, written(profile.query)) : h("p", { class: "query soft" }, "No query; it learns from judgements alone."),
    points.length > 1 ? sparkline(points) : h("p", { class: "sparkline none" }, "Nothing judged yet"),
    h("dl", { class: "counts" },
      figure("seen", counters.seen), figure("retrieved", counters.retrieved), figure("judged", judged), figure("relevant", counters.judged_relevant)),
    h("div", { class: "card-foot" },
      h("span", { class: "soft" }, strategyName(profile.strategy)),
      profile.waiting && mayDo("reviewer")
        ? h("a", { class: "button", href: profileLink(profile.name, "review") }, `Review ${count(profile.waiting)}`)
        : h("span", { class: "soft" }, profile.waiting ? `${count(profile.waiting)} waiting` : "Nothing waits")));
}

const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, count(value)));

const noProfiles = () => h("section", { class: "empty" },
  h("h2", {}, "No profiles yet"),
  h("p", {}, "A profile is a standing question. Describe in a sentence what you look for, feed it documents, and judge what it brings; it learns from every answer."),
  mayDo("reviewer") && h("p", {}, h("a", { class: "button primary", href: "#/new" }, "Create the first profile")));

function importButton(refresh) {
  const input = h("input", { type: "file", class: "unseen", "aria-label": "Import a profile from a model file" });
  const take = async (file, name) => {
    try {
      const { name: given } = await api.importProfile(file, name);
      notify(`Imported “${given}”.`);
      refresh().catch(() => {});
    } catch (problem) {
      if (problem.status === TAKEN) askForName(problem, other => take(file, other));
      else notify(`“${file.name}” was not imported: ${problem.message}`, { kind: "failed" });
    }
  };
  input.addEventListener("change", () => { const [file] = input.files; input.value = ""; take(file); });
  return h("label", { class: "button" }, "Import …", input);
}

function askForName(problem, run) {
  const name = h("input", { required: true, maxlength: "100", autocomplete: "off" });
  const submit = event => { event.preventDefault(); dialog.close(); run(name.value.trim()); };
  const dialog = openDialog("Import under another name", h("p", {}, written(problem.message)),
    h("form", { on: { submit } }, field("Name", name),
      h("p", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Import"), button("Cancel", {}, () => dialog.close()))));
}
