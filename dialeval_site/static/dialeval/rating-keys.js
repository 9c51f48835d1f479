// Keys of the rating page. Never while text is typed or composed, never while a key is held, and with a modifier only
// Ctrl (on a Mac ⌘) and Enter, which send from a text field.
(function () {
  "use strict";

  function isText(target) {
    return target instanceof HTMLElement && (target.isContentEditable || target.matches(
      "textarea, select, input:not([type=radio], [type=checkbox], [type=button], [type=submit])"));
  }

  // A button or a link does by itself what Enter asks of it.
  function actsByItself(target) {
    return target instanceof HTMLElement && target.matches("button, a, summary");
  }

  function listen(actions) {
    document.addEventListener("keydown", function (event) {
      if (event.isComposing || event.keyCode === 229 || event.altKey) return;
      if (event.ctrlKey || event.metaKey) {
        if (event.key !== "Enter" || event.repeat || !isText(event.target) || !event.target.form) return;
        if (event.target.form.id !== "rating-form") return;
        event.preventDefault();
        actions.enter();
        return;
      }
      if (event.key === "Escape") {
        if (actions.escape(event.target)) event.preventDefault();
        return;
      }
      if (event.defaultPrevented || isText(event.target)) return;
      if (event.target instanceof Element && event.target.closest(".site-header")) return;
      const act = actionOf(event, actions);
      if (!act) return;
      event.preventDefault();
      if (!event.repeat) act();
    });
  }

  function actionOf(event, actions) {
    const open = document.querySelector(".rating-popover:popover-open");
    if (open) return { g: "guidelines", "?": "keys" }[event.key] === open.id ? () => open.hidePopover() : null;
    if (event.key === "?") return actions.keys;
    if (actions.takes(event.key)) return () => actions.press(event.key); // digits with Shift on French, Czech keyboards
    if (event.shiftKey) return null;
    if (event.key === "Enter") return actsByItself(event.target) ? null : actions.enter;
    return { Backspace: actions.back, f: actions.flag, c: actions.comment, s: actions.skip, g: actions.guidelines }[event.key];
  }

  Object.assign((window.dialevalRating = window.dialevalRating || {}), { listen, isText });
})();
