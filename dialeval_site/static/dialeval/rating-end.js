// A page without an item, the end or the start: what still waits is sent, and, while others hold the rest, it looks again.
(function () {
  "use strict";
  const { Outbox, news, tell } = window.dialevalRating;
  const LOOK_AGAIN_MS = 20_000;
  const page = document.querySelector("[data-outbox]");
  const unsent = page.querySelector(".unsent");
  const words = unsent.dataset;
  let isOneMissing = false;

  function show() {
    for (const sentence of page.querySelectorAll(".all-stored")) sentence.hidden = outbox.size > 0 || isOneMissing;
    const counted = outbox.size === 1 ? words.one : words.many.replace("{n}", outbox.size);
    if (!outbox.size) unsent.replaceChildren();
    else if (outbox.trouble === "login") unsent.replaceChildren(`${words.login} ${counted} `, linkToLogIn());
    else unsent.textContent = counted;
  }

  function linkToLogIn() {
    return Object.assign(document.createElement("a"), {
      href: words.loginAddress, target: "_blank", textContent: words.loginLink,
    });
  }

  function lookAgain() {
    if (!outbox.size && !document.hidden) location.reload();
    else setTimeout(lookAgain, LOOK_AGAIN_MS);
  }

  // Of ratings that were not stored, here or when the page of the work was left already.
  function sayNews() {
    const text = news(page.dataset.outbox);
    if (!text) return;
    isOneMissing = true;
    page.prepend(Object.assign(document.createElement("p"), { className: "notice warn", role: "alert", textContent: text }));
  }

  // The page comes anew, with other numbers, and says what there is to say.
  function sent() {
    if (!outbox.size) location.assign(page.dataset.work);
  }

  const outbox = new Outbox(page.dataset.outbox, {
    changed: show,
    answered: sent,
    emptied: sent,
    refused(entry, body) {
      tell(page.dataset.outbox, body.reason);
      sent();
    },
    faulty(entry, body) {
      tell(page.dataset.outbox, `${words.faulty} ${Object.values(body.errors || {}).flat().join(" ")}`);
      sent();
    },
    gone() {
      tell(page.dataset.outbox, words.gone);
      if (!outbox.size) sayNews(); // here: there is no such page to come anew
    },
  });
  sayNews();
  show();
  outbox.pump();
  if (page.dataset.why === "wait") {
    page.querySelector(".has-wait").hidden = false;
    setTimeout(lookAgain, LOOK_AGAIN_MS);
  }
})();
