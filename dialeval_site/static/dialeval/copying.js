// Buttons that copy a text: data-copy holds it, or, where it is empty, the code beside them. The clipboard is there on
// secure pages alone; elsewhere the text is shown, selected, to be copied by hand.
(function () {
  "use strict";
  const SHOWN = 2000;

  function textOf(button) {
    return button.dataset.copy || button.parentElement.querySelector("code").textContent;
  }

  function offer(button, text) {
    const field = document.createElement("input");
    field.readOnly = true;
    field.value = text;
    field.className = "copied-by-hand";
    field.setAttribute("aria-label", button.textContent);
    button.after(field);
    field.select();
    field.addEventListener("blur", () => field.remove());
  }

  async function copy(button) {
    const text = textOf(button);
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return offer(button, text);
    }
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, SHOWN);
  }

  function show(root) {
    for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  }

  document.addEventListener("click", function (event) {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("htmx:load", (event) => show(event.target));
  show(document);
})();
