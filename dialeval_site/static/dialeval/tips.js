// Explanations (why a cell is undefined, what a column is) beside their button: on pointer, focus and tap.
// Without this script the button opens them in the middle of the page, which the browser does by itself.
(function () {
  "use strict";
  const gap = 6;
  let open = null;
  let openedBy = null;
  let pinned = false;

  function tipOf(button) {
    return document.getElementById(button.getAttribute("popovertarget"));
  }

  function show(button) {
    const tip = tipOf(button);
    if (!tip || tip === open) return;
    hide();
    tip.showPopover();
    place(tip, button);
    button.setAttribute("aria-describedby", tip.id);
    open = tip;
    openedBy = button;
  }

  function hide() {
    if (!open) return;
    openedBy.removeAttribute("aria-describedby");
    if (open.matches(":popover-open")) open.hidePopover();
    open = openedBy = null;
    pinned = false;
  }

  // The style is set as an object, which the content security policy allows; a style attribute in markup it does not.
  function place(tip, button) {
    const at = button.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const left = Math.min(Math.max(gap, at.left + at.width / 2 - size.width / 2), innerWidth - size.width - gap);
    const below = at.bottom + gap;
    const top = below + size.height > innerHeight ? Math.max(gap, at.top - size.height - gap) : below;
    Object.assign(tip.style, { margin: "0", inset: "auto", left: `${left}px`, top: `${top}px` });
  }

  function whyButton(event) {
    return event.target instanceof Element ? event.target.closest("button.why") : null;
  }

  document.addEventListener("pointerover", function (event) {
    const button = whyButton(event);
    if (button && event.pointerType === "mouse" && !pinned) show(button);
  });
  document.addEventListener("pointerout", function (event) {
    if (whyButton(event) && event.pointerType === "mouse" && !pinned) hide();
  });
  document.addEventListener("focusin", function (event) {
    const button = whyButton(event);
    if (button && button.matches(":focus-visible")) show(button);
  });
  document.addEventListener("focusout", function (event) {
    if (whyButton(event)) hide();
  });
  // A click pins what the pointer or the focus had opened; a second click closes it.
  document.addEventListener("click", function (event) {
    const button = whyButton(event);
    if (!button) return;
    event.preventDefault();
    if (openedBy === button && pinned) hide();
    else {
      show(button);
      pinned = true;
    }
  });
  document.addEventListener("toggle", function (event) {
    if (event.target === open && event.newState === "closed") hide();
  }, true);
  // Focus scrolls its button into view: its tip goes along. One that the pointer opened closes.
  document.addEventListener("scroll", function () {
    if (open && openedBy === document.activeElement) place(open, openedBy);
    else hide();
  }, { capture: true, passive: true });
})();
