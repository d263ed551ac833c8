// Light or dark as Airflow's own pages, which keep the choice here; without one the system's.
(() => {
  "use strict";
  const apply = () => {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
  };
  apply();
  window.addEventListener("storage", apply);
})();
