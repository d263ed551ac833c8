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

  for (const form of document.querySelectorAll(".danger form")) {
    form.addEventListener("submit", (event) => {
      if (!form.dataset.sure) {
        event.preventDefault();
        form.dataset.sure = "yes";
        form.querySelector("button").textContent = "Sure? Press again";
      }
    });
  }

  for (const image of document.querySelectorAll("img[data-inline]")) {
    fetch(image.src).then(async (answer) => {
      if (!answer.ok) return;
      const svg = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", image.alt);
      image.replaceWith(document.adoptNode(svg));
    });
  }

  // A run's campaign that is not there yet: look again, and go there once the answer comes from there.
  const unopened = document.getElementById("unopened");
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href);
        if (answer.redirected) return location.replace(answer.url);
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("unopened");
        if (fresh && fresh.innerHTML !== unopened.innerHTML) unopened.innerHTML = fresh.innerHTML;
      } catch {
        // Asked again like any other time.
      }
    }
    setTimeout(look, 3000);
  };
  if (unopened) setTimeout(look, 3000);

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

  const show = (html) => {
    const kept = new Set(ticked());
    const focused = document.activeElement?.closest?.("#live") ? document.activeElement : null;
    const place = focused && [...live.querySelectorAll("a, input")].indexOf(focused);
    const scrolled = live.querySelector(".scroll")?.scrollLeft ?? 0;
    live.innerHTML = html;
    for (const box of boxes()) box.checked = kept.has(box.value);
    live.querySelector(".scroll").scrollLeft = scrolled;
    if (focused) live.querySelectorAll("a, input")[place]?.focus();
    count();
  };

  let etag = "";
  let pause = 3000;
  const refresh = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(live.dataset.source, { headers: etag ? { "If-None-Match": etag } : {} });
        if (answer.status === 200) {
          etag = answer.headers.get("ETag") ?? "";
          show(await answer.text());
        } else if (answer.status !== 304) throw new Error(String(answer.status));
        pause = 3000;
        state.textContent = "";
      } catch {
        pause = Math.min(pause * 2, 60000);
        state.textContent = "Airflow does not answer: what is shown may be old.";
      }
    }
    setTimeout(refresh, pause);
  };
  count();
  setTimeout(refresh, pause);
})();
