// Draws each chart when it comes near the view, the rest when the browser is idle, in place of the still pictures that
// are there from the start: for print at once, and where no script runs.
(() => {
  "use strict";
  const config = JSON.parse(document.getElementById("chart-config").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const padding = 24;
  const axis = 58;
  const spacing = 14;

  // How much wider than its room a kind of layout came out when it was first drawn: labels reach beyond panels.
  const excess = new Map();
  const kindOf = (data, columns) => `${columns} of ${JSON.stringify({ ...data.panels, count: 0 })}`;

  const hasGaps = (data, columns) => data.panels.count > columns && data.panels.count % columns > 0;

  const shaped = (data, room) => {
    const spec = structuredClone(data.spec);
    if (spec.vconcat) {
      for (const strip of spec.vconcat) strip.width = Math.max(room, data.narrowest_px) - padding - axis - 12;
      return spec;
    }
    if (!data.panels) {
      spec.width = Math.max(room, data.narrowest_px);
      spec.autosize = { type: "fit-x", contains: "padding" };
      return spec;
    }
    const { in_row: inRow, narrowest_px: narrowest, own_axes: ownAxes } = data.panels;
    const each = ownAxes ? axis : 0;
    const free = room - padding - (ownAxes ? 0 : axis);
    const columns = Math.max(1, Math.min(Math.floor((free + spacing) / (narrowest + each + spacing)), inRow));
    spec.columns = columns;
    spec.spacing ??= spacing;
    // Below a gap in the last row a shared axis would stand alone.
    if (hasGaps(data, columns)) spec.resolve = { ...spec.resolve, axis: { ...spec.resolve?.axis, x: "independent" } };
    const gaps = (columns - 1) * spec.spacing + (excess.get(kindOf(data, columns)) ?? 0);
    spec.spec.width = Math.floor((free - gaps) / columns) - each;
    for (const param of spec.params ?? []) if (param.name === "legendRoom") param.value = free;
    return spec;
  };

  const stripsHeight = (strips) => strips.reduce((sum, strip) => sum + strip.height + spacing, 90);

  const expectedHeight = (data, spec) =>
    spec.vconcat ? stripsHeight(spec.vconcat) :
    data.panels ? Math.ceil(data.panels.count / spec.columns) * (spec.spec.height + (hasGaps(data, spec.columns) ? 70 : 34)) + 60 : (spec.height ?? 300) + 90;

  class Chart {
    constructor(figure) {
      this.canvas = figure.querySelector(".canvas");
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.reserve();
    }
    room() {
      return this.canvas.clientWidth;
    }
    reserve() {
      this.canvas.style.minHeight = `${expectedHeight(this.data, shaped(this.data, this.room()))}px`;
    }
    async draw() {
      if (this.drawnFor !== undefined && Math.abs(this.drawnFor - this.room()) < 8) return;
      this.drawnFor = this.room();
      this.result?.finalize();
      await this.embed();
      const over = this.canvas.querySelector("svg").getBoundingClientRect().width - this.drawnFor;
      if (this.data.panels && over > 0.5) {
        const kind = kindOf(this.data, this.columns);
        excess.set(kind, (excess.get(kind) ?? 0) + Math.ceil(over));
        this.result.finalize();
        await this.embed();
      }
      this.canvas.style.minHeight = "";
    }
    async embed() {
      const spec = shaped(this.data, this.drawnFor);
      this.columns = spec.columns;
      const tooltip = { theme: dark.matches ? "dark" : "light" };
      const options = { mode: "vega-lite", renderer: "svg", actions: false, config, tooltip };
      const name = this.canvas.getAttribute("aria-label");
      this.result = await vegaEmbed(this.canvas, spec, options);
      // Vega makes it a document without a name.
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", name);
      this.canvas.removeAttribute("aria-roledescription");
    }
  }

  const charts = new Map([...document.querySelectorAll("figure.chart")].map((figure) => [figure, new Chart(figure)]));
  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => charts.get(entry.target).draw()),
    { rootMargin: "600px" },
  );
  charts.forEach((_, figure) => near.observe(figure));

  const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
  const drawRest = async (rest) => {
    const next = rest.shift();
    if (!next) return;
    await next.draw();
    whenIdle(() => drawRest(rest));
  };
  whenIdle(() => drawRest([...charts.values()]));

  let pending;
  window.addEventListener("resize", () => {
    clearTimeout(pending);
    pending = setTimeout(() => charts.forEach((chart) => chart.draw()), 150);
  });

  // A link to a missed interval shows its row, unfolded, and leads keys and screen readers there; and back again.
  let origin;
  document.addEventListener("click", (event) => {
    origin = event.target.closest("a[href^='#miss-'], figure.chart") ?? origin;
  });
  const reveal = () => {
    const row = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row) {
      // What was unfolded has moved the place that the browser goes back to.
      requestAnimationFrame(() => origin?.scrollIntoView({ block: "center" }));
      return origin?.focus({ preventScroll: true });
    }
    if (!row.id.startsWith("miss-")) return;
    for (let around = row.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    for (const details of row.querySelectorAll("details")) details.open = true;
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  // Within a page of Plimsoll's the frame is as high as what it shows.
  if (window.parent !== window) {
    const tell = () => window.parent.postMessage({ plimsollHeight: document.body.scrollHeight }, "*");
    new ResizeObserver(tell).observe(document.body);
  }

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((details) => (details.open = true));
  });
  window.addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
})();
