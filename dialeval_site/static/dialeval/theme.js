// The theme that the reader chose is in a cookie: base.html draws with it, so no page waits for this script.
(function () {
  "use strict";
  const root = document.documentElement;

  function remembered() {
    const found = document.cookie.match(/(?:^|; )theme=(light|dark)(?:;|$)/);
    return found ? found[1] : "system";
  }

  function remember(theme) {
    const age = theme === "system" ? 0 : 31536000;
    document.cookie = `theme=${theme}; path=/; max-age=${age}; samesite=lax`;
  }

  function apply(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  apply(remembered());

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
