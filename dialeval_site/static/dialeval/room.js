/* The room of two raters. htmx asks for new lines; this sends one's own, keeps a draft, tries again without a
   connection under the same key, so that a line is stored once, and says whose turn it is in the title. */
"use strict";
(() => {
  const words = document.getElementById("room-words").dataset;
  const lines = document.getElementById("room-lines");
  const title = document.title;
  const store = {
    name: `dialeval-room-${words.room}`,
    read() { try { return JSON.parse(sessionStorage.getItem(this.name)) || {}; } catch { return {}; } },
    write(draft) { try { sessionStorage.setItem(this.name, JSON.stringify(draft)); } catch { /* private windows */ } },
  };

  const seen = () => document.getElementById("room-seen").dataset;
  const myTurn = () => seen().turn === "mine";
  const call = (text) => { document.title = document.hidden && text ? `● ${text} · ${title}` : title; };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) call(""); });

  // The campaign is gone, or somebody else is here: nothing would come any more, and the page of the room says so. Not
  // while something is typed: it may be the rater's who comes back.
  document.addEventListener("htmx:responseError", (event) => {
    const typed = document.getElementById("room-text");
    if (event.detail.xhr.status === 404 && !(typed && typed.value)) location.reload();
  });

  if (words.state === "waiting") {
    // The page is loaded anew when somebody comes; the new page then calls in its title.
    store.write({ waited: true });
    return;
  }

  const form = document.getElementById("room-form");
  const text = document.getElementById("room-text");
  const button = form.querySelector("button");
  const error = document.getElementById("room-error");
  const waits = [1, 2, 4, 8, 15];
  let pending = false;
  let tries = 0;
  let timer = 0;
  let leaving = false;

  const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const keep = () => store.write({ text: text.value, key: form.elements.key.value, pending });

  function show() {
    text.readOnly = pending;
    button.disabled = pending || !myTurn();
  }

  function scrollDown() {
    const page = document.documentElement;
    page.scrollTop = page.scrollHeight;
  }

  function settle(message) {
    pending = false;
    tries = 0;
    error.textContent = message;
    keep();
    show();
    htmx.trigger(lines, "refresh");
  }

  function again() {
    const seconds = waits[Math.min(tries, waits.length - 1)];
    tries += 1;
    error.textContent = words.retry.replace("{n}", seconds);
    timer = setTimeout(send, seconds * 1000);
  }

  async function send() {
    clearTimeout(timer);
    form.elements.csrfmiddlewaretoken.value = window.dialevalToken();
    let answer;
    try {
      answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
    } catch {
      again();
      return;
    }
    if (answer.status >= 500 || answer.status === 429) { again(); return; }
    if (answer.status === 401) { settle(words.login); return; }
    let said = {};
    try { said = await answer.json(); } catch { /* not ours, such as a page about a lost session */ }
    if (said.stored) {
      text.value = "";
      form.elements.key.value = newKey();
      settle("");
      text.focus();
      if (!said.open) { leaving = true; location.reload(); }
    } else {
      settle(said.error || words.stale);
    }
  }

  function begin() {
    if (pending || !text.value.trim()) return;
    if (!myTurn()) { error.textContent = words.wait; return; }
    pending = true;
    error.textContent = "";
    keep();
    show();
    send();
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); begin(); });
  text.addEventListener("input", () => { keep(); if (!pending) error.textContent = ""; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) { event.preventDefault(); begin(); }
  });
  addEventListener("online", () => { if (pending) send(); });
  addEventListener("beforeunload", (event) => { if (pending && !leaving) event.preventDefault(); });

  let said = Number(seen().said);
  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (event.target !== lines) return;
    show();
    const now = Number(seen().said);
    if (now > said) {
      scrollDown();
      call(myTurn() ? words.yourTurn : "");
      said = now;
      if (!pending) error.textContent = "";
    }
  });

  const draft = store.read();
  if (draft.waited) call(words.yourTurn);
  if (draft.text && (draft.pending || !text.value || text.value === draft.text)) {
    text.value = draft.text;
    if (draft.key) form.elements.key.value = draft.key;
  } else if (text.value) {
    keep(); // typed before this script was there
  }
  const persona = document.querySelector(".own-persona");
  if (said && !matchMedia("(min-width: 900px)").matches) persona.open = false;
  if (said) scrollDown();
  show();
  if (draft.pending && text.value) { pending = true; show(); send(); }
  else if (matchMedia("(min-width: 900px)").matches) text.focus({ preventScroll: true });
})();
