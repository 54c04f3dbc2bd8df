"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Theme: what the system asks for, until someone chooses.
  const button = byId("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = false;

  function show(theme) {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light theme" : "Dark theme";
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = true;
    show(root.dataset.theme === "dark" ? "light" : "dark");
  });
  system.addEventListener("change", () => chosen || show(system.matches ? "dark" : "light"));
  show(system.matches ? "dark" : "light");

  // A link to a group opens its card.
  function open() {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (target && target.matches("details")) target.open = true;
  }
  window.addEventListener("hashchange", open);
  open();

  // Search: names that begin with the words first, then those that contain them.
  const { names, first, second, margin } = data.index;
  const lower = names.map((name) => name.toLowerCase());
  const MOST = 20;

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function groupLink(number) {
    const link = element("a");
    link.href = `#group-${number}`;
    link.append(`group ${number} `, element("bdi", data.leaders[number] ?? "", "name"));
    return link;
  }

  function find(words) {
    const begin = [], inside = [];
    for (let i = 0; i < lower.length; i++) {
      const at = lower[i].indexOf(words);
      if (at === 0) begin.push(i);
      else if (at > 0) inside.push(i);
    }
    return begin.concat(inside);
  }

  function row(i) {
    const item = element("li");
    item.append(element("bdi", names[i], "name found"), ": ");
    if (first[i] === 0) {
      item.append("in no group");
      return item;
    }
    item.append(groupLink(first[i]), `, clarity ${margin[i]} %`);
    if (second[i] > 0 && margin[i] < 100) item.append("; next best ", groupLink(second[i]));
    return item;
  }

  const form = byId("search-form");
  const input = byId("search"), status = byId("search-status"), results = byId("search-results");
  const all = form ? status.textContent : "";
  function search() {
    const words = input.value.trim().toLowerCase();
    const found = words ? find(words) : [];
    results.replaceChildren(...found.slice(0, MOST).map(row));
    const more = found.length > MOST ? `, the first ${MOST} are shown` : "";
    status.textContent = words ? `${found.length.toLocaleString("en")} found${more}` : all;
  }
  if (form) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", search);
  }

  // Downloads.
  byId("downloads").hidden = Object.keys(data.downloads).length === 0;
  for (const each of document.querySelectorAll("button[data-file]")) {
    each.addEventListener("click", () => {
      const name = each.dataset.file;
      const kind = name.endsWith(".json") ? "application/json" : "text/csv;charset=utf-8";
      const url = URL.createObjectURL(new Blob([data.downloads[name]], { type: kind }));
      const link = element("a");
      link.href = url;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
  }
  root.dataset.ready = "yes";
})();
