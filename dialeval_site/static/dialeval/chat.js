// A chat that is being written: Enter sends, the page follows whose turn it is, nothing typed is ever lost.
(function () {
  "use strict";
  const page = document.querySelector("[data-chat]");
  const form = document.getElementById("chat-form");
  if (!page || !form) return;
  const text = form.querySelector("textarea");
  const send = form.querySelector("button");
  const says = page.querySelector("[data-chat-says]");
  const connection = page.querySelector("[data-chat-connection]");
  const login = page.querySelector("[data-chat-login]");
  const draft = "dialeval-chat-" + page.dataset.chat;
  const IDLE_MS = 10 * 60 * 1000;
  let lastTouched = Date.now();
  let unsure = null; // what was sent and may have been stored: no answer came

  const turn = () => document.getElementById("chat-state").dataset.turn;

  function keep(value) {
    try {
      if (value) sessionStorage.setItem(draft, value);
      else sessionStorage.removeItem(draft);
    } catch {
      // Storage is switched off: the draft then lasts as long as the page.
    }
  }

  function kept() {
    try {
      return sessionStorage.getItem(draft) || "";
    } catch {
      return "";
    }
  }

  function newKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // Two answers may bring the same utterance: the first one stays.
  function withoutDoubles() {
    const seen = new Set();
    for (const bubble of [...document.querySelectorAll("#chat > [id]")]) {
      if (seen.has(bubble.id)) bubble.remove();
      seen.add(bubble.id);
    }
  }

  function follow() {
    withoutDoubles();
    const now = turn();
    send.disabled = now !== "yours";
    form.hidden = now === "full" || now === "ended";
    const opening = page.querySelector("[data-chat-opening]");
    if (opening && document.querySelector("#chat > li")) opening.remove();
    const words = document.getElementById("chat-state").dataset.says || "";
    if (says.textContent !== words) says.textContent = words;
  }

  function toTheEnd() {
    document.documentElement.scrollTop = document.documentElement.scrollHeight;
  }

  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.isComposing || event.keyCode === 229) return; // an input method is choosing a word
    event.preventDefault();
    if (!send.disabled && text.value.trim()) form.requestSubmit(send);
  });
  text.addEventListener("input", () => {
    keep(text.value);
    if (unsure === null || text.value === unsure) return;
    form.elements.key.value = newKey(); // another message: the same key would bring the first one's answer
    unsure = null;
  });

  // A refusal (409, 422) says why in the page; htmx would pass over it.
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if ([409, 422].includes(event.detail.xhr.status)) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt === form) text.readOnly = true; // what would be typed on is not part of what is sent
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    const status = event.detail.xhr ? event.detail.xhr.status : 0;
    const sent = event.detail.elt === form;
    if (status === 404 && !text.value) location.reload(); // the chat is gone, or somebody else is here: its page says so
    login.hidden = status !== 401;
    if (sent) {
      text.readOnly = false;
      unsure = status === 0 || status >= 500 ? text.value : null;
    }
    if (sent || event.detail.elt.matches("[data-chat-again]")) connection.hidden = [200, 401, 409, 422].includes(status);
    else if (status && status < 500) connection.hidden = true;
    if (sent && status === 200) {
      text.value = "";
      keep("");
    }
  });
  document.body.addEventListener("htmx:afterSettle", () => {
    follow();
    toTheEnd();
    if (!form.hidden && document.activeElement === document.body) text.focus({ preventScroll: true });
  });

  // The item stays in the rater's hand while the page is open and somebody is at it.
  for (const name of ["keydown", "pointerdown", "scroll"]) {
    addEventListener(name, () => { lastTouched = Date.now(); }, { passive: true });
  }
  setInterval(() => {
    if (document.hidden || Date.now() - lastTouched > IDLE_MS) return;
    fetch(page.dataset.heartbeat, {
      method: "POST",
      headers: { "X-CSRFToken": window.dialevalToken(), Accept: "application/json" },
    }).catch(() => {});
  }, Number(page.dataset.heartbeatSeconds) * 1000);

  if (text.value) keep(text.value); // typed before this script was there
  else text.value = kept();
  follow();
  if (document.querySelector("#chat > li")) toTheEnd();
  if (matchMedia("(pointer: fine)").matches && !form.hidden) text.focus({ preventScroll: true });
})();
