// Before the first paint: the theme that the reader chose. Runs in the head, blocking, so it stays this short.
(function () {
  "use strict";
  const root = document.documentElement;
  const key = "dialeval-theme";

  function remembered() {
    try {
      return localStorage.getItem(key) || "system";
    } catch {
      return "system"; // storage is switched off: follow the system
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem(key, theme);
    } catch {
      // The choice then lasts as long as the page.
    }
  }

  function apply(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  apply(remembered());
  root.classList.add("has-script");

  document.addEventListener("DOMContentLoaded", function () {
    const control = document.querySelector("[data-theme-switch]");
    if (!control) return;
    const choice = control.querySelector("select");
    control.hidden = false;
    choice.value = remembered();
    choice.addEventListener("change", function () {
      remember(choice.value);
      apply(choice.value);
      document.dispatchEvent(new Event("dialeval:theme"));
    });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    document.dispatchEvent(new Event("dialeval:theme"));
  });
})();
