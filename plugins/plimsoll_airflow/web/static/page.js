// Everything works without this file; it keeps the matrix fresh, counts what is ticked, and draws charts in the page's inks.
(() => {
  "use strict";

  // In Airflow's frame, links to Airflow's own pages open around it: a frame's sandbox forbids that to the frame itself.
  const around = (event) => {
    const link = event.target.closest("a[data-airflow]");
    if (!link || window.parent === window || event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    const outside = window.parent.document.createElement("a");
    outside.href = link.href;
    outside.click();
  };
  document.addEventListener("click", around);

  // What can't be undone is asked about on a page of its own; with scripts, that page's question comes up here.
  const dialog = document.getElementById("dialog");
  const ask = async (event) => {
    const link = event.target.closest("a[data-confirm]");
    if (!link || !dialog || event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    try {
      const answer = await fetch(link.href);
      const question = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("confirm");
      if (!answer.ok || !question) throw new Error(String(answer.status));
      question.querySelector("h1").id = "question";
      dialog.replaceChildren(document.adoptNode(question));
      dialog.showModal();
      dialog.querySelector("[data-close]")?.focus();
    } catch {
      location.assign(link.href);
    }
  };
  document.addEventListener("click", ask);
  dialog?.addEventListener("click", (event) => {
    if (event.target !== dialog && !event.target.closest("[data-close]")) return;
    event.preventDefault();
    dialog.close();
  });

  for (const image of document.querySelectorAll("img[data-inline]")) {
    fetch(image.src).then(async (answer) => {
      if (!answer.ok) return;
      const svg = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
      svg.querySelector("style")?.remove(); // which was for those without scripts: here it has the page's own ink
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", image.alt);
      image.replaceWith(document.adoptNode(svg));
    });
  }

  // A frame of charts says how high it is.
  window.addEventListener("message", (event) => {
    const frame = [...document.querySelectorAll("iframe[data-fit]")].find((one) => one.contentWindow === event.source);
    const height = Number(event.data?.plimsollHeight);
    if (frame && height > 0 && height < 20000) frame.style.height = `${Math.ceil(height) + 4}px`;
  });

  // A run's campaign that is not there yet: look again, and go there once the answer comes from there.
  const missing = document.getElementById("no-campaign");
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href);
        if (answer.redirected) return location.replace(answer.url);
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("no-campaign");
        if (fresh && fresh.innerHTML !== missing.innerHTML) missing.innerHTML = fresh.innerHTML;
      } catch {
        // Asked again like any other time.
      }
    }
    setTimeout(look, 3000);
  };
  if (missing) setTimeout(look, 3000);

  const live = document.getElementById("live");
  if (!live) return;
  const button = document.getElementById("run-selected");
  const told = document.getElementById("selected");
  const state = document.getElementById("live-state");
  const boxes = () => [...live.querySelectorAll("input[name=cell]")];
  const ticked = () => boxes().filter((box) => box.checked).map((box) => box.value);

  const count = () => {
    if (!button) return;
    const number = ticked().length;
    button.disabled = number === 0;
    told.textContent = number ? `${number} selected` : "tick cells to select them";
  };
  live.addEventListener("change", count);

  // The matrix is one stop of the Tab key; within it, keys go from cell to cell as in WAI-ARIA's pattern of a grid.
  let current = "";
  const cellOf = (element) => element?.closest?.("#live td")?.querySelector("a");
  const arrange = () => {
    live.querySelector(".matrix").setAttribute("role", "grid");
    for (const box of boxes()) box.tabIndex = -1;
    const links = [...live.querySelectorAll("td a")];
    const stop = links.find((link) => link.dataset.cell === current) ?? links[0];
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
  };
  const lines = () =>
    [...live.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((place) => place.querySelector("a")));
  const steps = {
    ArrowLeft: (row, column) => [row, column - 1],
    ArrowRight: (row, column) => [row, column + 1],
    ArrowUp: (row, column) => [row - 1, column],
    ArrowDown: (row, column) => [row + 1, column],
    Home: (row) => [row, 0],
    End: (row) => [row, Infinity],
    "Ctrl+Home": () => [0, 0],
    "Ctrl+End": () => [Infinity, Infinity],
  };
  const within = (number, all) => all[Math.max(0, Math.min(number, all.length - 1))];
  live.addEventListener("focusin", (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    current = cell.dataset.cell;
    arrange();
  });
  live.addEventListener("keydown", (event) => {
    const cell = cellOf(event.target);
    if (!cell || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.key === " " && event.target === cell) {
      event.preventDefault();
      cell.parentElement.querySelector("input")?.click();
    } else if (event.key === "Enter" && event.target !== cell) {
      event.preventDefault(); // or the form would be sent
      cell.click();
    } else if (steps[`${event.ctrlKey ? "Ctrl+" : ""}${event.key}`]) {
      event.preventDefault();
      const all = lines();
      const row = all.findIndex((line) => line.includes(cell));
      const [toRow, toColumn] = steps[`${event.ctrlKey ? "Ctrl+" : ""}${event.key}`](row, all[row].indexOf(cell));
      within(toColumn, within(toRow, all))?.focus();
    }
  });

  // What has changed is shown afresh, square by square: who works in another one, or reads it, is not disturbed.
  const parts = (root) => [...root.querySelectorAll(":scope > :not(.scroll), thead, tbody th, td")];
  let known = parts(live).map((part) => part.innerHTML);
  const show = (html) => {
    const fresh = document.createElement("div");
    fresh.innerHTML = html;
    const texts = parts(fresh).map((part) => part.innerHTML);
    const places = parts(live);
    if (texts.length === places.length) texts.forEach((text, place) => text === known[place] || showPart(places[place], text));
    else showAll(html);
    known = texts;
    arrange();
    count();
  };
  const showPart = (part, text) => {
    const ticks = part.querySelector("input")?.checked;
    const focused = part.contains(document.activeElement) ? document.activeElement.tagName : "";
    part.innerHTML = text;
    const box = part.querySelector("input");
    if (box) box.checked = ticks ?? false;
    if (focused) part.querySelector(focused)?.focus({ preventScroll: true });
  };
  const showAll = (html) => {
    const kept = new Set(ticked());
    const focused = live.contains(document.activeElement) ? document.activeElement.tagName : "";
    const scrolled = live.querySelector(".scroll")?.scrollLeft ?? 0;
    live.innerHTML = html;
    for (const box of boxes()) box.checked = kept.has(box.value);
    live.querySelector(".scroll").scrollLeft = scrolled;
    arrange();
    const place = focused && live.querySelector("td a[tabindex='0']");
    const again = focused === "INPUT" ? place?.parentElement.querySelector("input") : place;
    if (again) again.focus({ preventScroll: true });
  };

  const SILENT = "Airflow does not answer.";
  const LOGGED_OUT = "Your login has expired: log in to Airflow again, then load this page again.";
  let etag = "";
  let pause = 3000;
  const refresh = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(live.dataset.source, { headers: etag ? { "If-None-Match": etag } : {} });
        if (answer.status === 200) {
          etag = answer.headers.get("ETag") ?? "";
          show(await answer.text());
        } else if (answer.status !== 304) throw new Error(answer.status === 401 ? LOGGED_OUT : SILENT);
        pause = 3000;
        state.textContent = "";
      } catch (error) {
        pause = Math.min(pause * 2, 60000);
        state.textContent = `${error.message === LOGGED_OUT ? LOGGED_OUT : SILENT} What is shown may be old.`;
      }
    }
    setTimeout(refresh, pause);
  };
  arrange();
  count();
  setTimeout(refresh, pause);
})();
