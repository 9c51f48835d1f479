// The work of a rater: the next item comes the moment the last is sent, earlier ones come back, and what cannot be sent waits.
(function () {
  "use strict";
  const { Clock, Drafts, Outbox, QuestionForm, RatingForm, RatingPage, fill, listen, news, prefer, preferred, tell } = window.dialevalRating;
  const AWAY_AFTER_MS = 600_000;
  const ONE_KEY = "dialeval-rating-one-key";

  const root = document.getElementById("rating");
  const bar = document.getElementById("rating-form");
  const previousLink = document.getElementById("previous");
  const skipForm = document.getElementById("skip-form");
  const leaveForm = document.getElementById("leave-form");

  const page = new RatingPage(bar);
  const { words } = page;
  const form = QuestionForm
    ? new QuestionForm(bar, words)
    : new RatingForm(bar, root.dataset.axesBelow ? Number(root.dataset.axesBelow) : null, words);
  const clock = new Clock();
  const drafts = new Drafts(root.dataset.outbox);
  let guidelines = root.dataset.guidelines;
  let done = Number(root.dataset.done);
  let total = Number(root.dataset.total);
  let ready = []; // items in hand that wait for their turn
  let past = []; // items rated on this page, oldest first, with what was said
  let at = -1; // place in past of the item on the page; -1: a new one
  let current = null;
  let hasFeedback = false; // a practice item's, in place of an item
  const oneKey = document.getElementById("one-key");
  let isLeaving = false; // a pause was asked for while ratings waited

  function itemFrom(article) {
    return { id: article.dataset.item, article, practice: "practice" in article.dataset, number: null };
  }

  function itemFromHtml(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return itemFrom(template.content.querySelector(".item"));
  }

  function show(item, isNew) {
    current = item;
    hasFeedback = false;
    item.guidelines = guidelines;
    if (isNew) {
      at = -1;
      item.number = done + 1;
      history.replaceState(null, "", root.dataset.work); // not the item that ?item= asked for
    }
    form.fill(isNew ? drafts.get(item.id) : item.values, item.article);
    skipForm.elements.item.value = bar.elements.item.value = item.id;
    showBack();
    page.show(item, isNew, total);
    clock.begin();
    page.progress(done, total);
  }

  function showNext() {
    const next = ready.shift();
    if (next) return show(next, true);
    wait();
    if (!outbox.size) location.assign(root.dataset.work); // the end, a pause, or a chat: the server knows which
    return undefined;
  }

  // The next item, or a practice item's feedback, is on its way.
  function wait() {
    current = null;
    at = -1;
    page.wait();
    showStatus();
  }

  function showStatus() {
    page.showStatus(outbox.size, outbox.trouble, isLeaving);
  }

  // --- going on -----------------------------------------------------------------------------------------------

  function enter() {
    if (hasFeedback) return goOn();
    if (!current) return undefined;
    if (form.advance()) return send();
    showBack();
    return undefined;
  }

  function send() {
    const item = current;
    isLeaving = false; // who rates on does not pause
    const isNew = at < 0;
    item.values = form.values;
    drafts.delete(item.id);
    const fields = form.fields(item.id, crypto.randomUUID ? crypto.randomUUID() : randomKey(), item.guidelines, clock.read());
    const entry = { key: fields[1][1], item: item.id, address: bar.action, fields, isNew, practice: item.practice };
    if (isNew) {
      done += 1;
      total = Math.max(total, done);
      if (!item.practice) past.push(item);
    }
    if (item.practice && isNew) {
      wait(); // its feedback comes with the answer
      page.announce(words.sending);
      page.progress(done, total);
      outbox.add(entry);
      return;
    }
    outbox.add(entry);
    showNext();
  }

  // Where the page is not served over https there is no randomUUID.
  function randomKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function goOn() {
    hasFeedback = false;
    showNext();
  }

  // --- going back ---------------------------------------------------------------------------------------------

  function hasEarlier() {
    return at > 0 || (at < 0 && past.length > 0) || Boolean(root.dataset.previous);
  }

  // To the item before, or to the question before.
  function showBack() {
    previousLink.hidden = !(hasEarlier() || form.isInside);
  }

  function back() {
    if (hasFeedback) return;
    if (current && form.back()) {
      showBack();
      return;
    }
    const earlier = at < 0 ? past.length - 1 : at - 1;
    if (earlier < 0) {
      if (!root.dataset.previous) page.announce(words.noEarlier);
      else if (outbox.size) sayThatBackWaits();
      else leaveFor(`${root.dataset.work}?item=${root.dataset.previous}`);
      return;
    }
    putAside();
    at = earlier;
    show(past[earlier], false);
  }

  // Earlier items come from the server, which does not know of the last one yet.
  function sayThatBackWaits() {
    if (current) form.say(words.backWaits);
    else page.announce(words.backWaits);
  }

  function leaveFor(address) {
    if (current && at < 0) drafts.set(current.id, form.values);
    drafts.keep();
    location.assign(address);
  }

  function putAside() {
    if (!current || at >= 0) return;
    drafts.set(current.id, form.values);
    ready.unshift(current);
  }

  function backToWork() {
    if (at < 0) return false;
    showNext();
    return true;
  }

  // --- what the server says -----------------------------------------------------------------------------------

  function take(body) {
    if (body.form !== undefined && form.version !== String(body.form) && !outbox.size) {
      leaveFor(root.dataset.work); // the campaign's form has changed since this page was loaded
      return;
    }
    const known = new Map(ready.map((item) => [item.id, item]));
    ready = [];
    for (const { item, html } of body.next || []) {
      if ((current && current.id === item && at < 0) || outbox.holds(item)) continue;
      if (known.has(item)) ready.push(known.get(item));
      else if (html) ready.push(itemFromHtml(html));
    }
    const unsent = outbox.entries.filter((entry) => entry.isNew).length;
    if (body.progress) {
      done = body.progress.done + unsent;
      total = Math.max(body.progress.total, done);
      page.progress(done, total);
    }
    if (body.guidelines !== undefined && body.guidelines !== null && String(body.guidelines) !== guidelines) freshGuidelines();
    if (current === null && !hasFeedback) {
      hasFeedback = Boolean(body.feedback);
      if (hasFeedback) page.showFeedback(body.feedback, goOn);
      else showNext();
    }
  }

  async function freshGuidelines() {
    try {
      const answer = await fetch(root.dataset.guidelinesAddress, { headers: { Accept: "application/json" } });
      const news = await answer.json();
      guidelines = String(news.number);
      page.showGuidelines(news.html);
    } catch {
      // Asked again with the next answer.
    }
  }

  const outbox = new Outbox(root.dataset.outbox, {
    extra() {
      return [...ready, ...(current ? [current] : [])].map((item) => ["have", item.id]);
    },
    changed() {
      showStatus();
      if (isLeaving && !outbox.size) leaveForm.requestSubmit();
    },
    answered(entry, body) {
      take(body);
    },
    refused(entry, body) {
      past = past.filter((item) => item.id !== entry.item || item === current);
      if (at >= 0) at = past.indexOf(current);
      tell(root.dataset.outbox, body.reason); // for the page at the end, or the start, if that is where this leads
      take(body);
      if (current && !isLeaving) form.say(news(root.dataset.outbox));
    },
    emptied() {
      if (!current && !hasFeedback) location.assign(root.dataset.work);
    },
    // Not stored: the rater gets it again, with what was typed.
    faulty(entry, body) {
      isLeaving = false;
      const text = `${words.faulty} ${Object.values(body.errors || {}).flat().join(" ")}`;
      const item = past.find((one) => one.id === entry.item);
      if (item && entry.isNew) {
        past = past.filter((one) => one !== item);
        done -= 1;
        drafts.set(item.id, item.values);
        putAside();
        show(item, true);
      }
      sayOrLeave(text);
    },
    gone() {
      sayOrLeave(words.gone);
    },
  });

  // Where no item is on the page nothing would follow: the server says what there is to do, or that there is nothing.
  function sayOrLeave(text) {
    if (current && !isLeaving) return form.say(text);
    tell(root.dataset.outbox, text); // for that page
    if (!outbox.size) location.assign(root.dataset.work);
    return undefined;
  }

  // --- keys, buttons, heartbeat -------------------------------------------------------------------------------

  function openPopover(id) {
    const popover = document.getElementById(id);
    if (popover && !popover.matches(":popover-open")) popover.showPopover();
    if (popover && popover.hasAttribute("tabindex")) popover.focus();
  }

  listen({
    takes: (key) => Boolean(current) && form.takes(key),
    press(key) {
      clock.key();
      if (form.press(key) && oneKey.checked) enter();
      else showBack();
    },
    enter,
    back,
    flag() {
      if (!current) return;
      const box = bar.elements.flagged;
      box.checked = !box.checked;
      page.announce(box.checked ? words.flagged : words.unflagged);
    },
    comment() {
      if (!current) return;
      form.comment.open = true;
      bar.elements.comment.focus();
    },
    skip() {
      if (current && at < 0) openPopover("skip");
    },
    keys: () => openPopover("keys"),
    guidelines: () => openPopover("guidelines"),
    escape(target) {
      if (document.querySelector(".rating-popover:popover-open")) return false;
      if (target === bar.elements.comment) {
        if (!target.value) form.comment.open = false;
        page.focusHeading();
        return true;
      }
      return backToWork();
    },
  });

  bar.addEventListener("submit", function (event) {
    event.preventDefault();
    enter();
  });
  bar.addEventListener("change", function (event) {
    if (form.isAnswer(event.target)) {
      clock.key();
      form.say("");
    }
  });
  // A pointer's choice; arrow keys, which only pass over a score on their way, come without one.
  bar.addEventListener("click", function (event) {
    if (event.detail === 0 || !form.isAnswer(event.target)) return;
    if (form.clicked(event.target) && oneKey.checked) enter();
    else showBack();
  });
  document.getElementById("one-key-option").hidden = false;
  oneKey.checked = preferred(ONE_KEY) === "on";
  oneKey.addEventListener("change", () => prefer(ONE_KEY, oneKey.checked ? "on" : ""));
  bar.noValidate = true;
  previousLink.addEventListener("click", function (event) {
    event.preventDefault();
    back();
  });
  document.querySelector("[data-go-back-to-work]").addEventListener("click", function (event) {
    event.preventDefault();
    backToWork();
  });
  skipForm.addEventListener("submit", function (event) {
    event.preventDefault();
    isLeaving = false;
    document.getElementById("skip").hidePopover();
    if (!current || at >= 0) return;
    const fields = [["item", current.id], ...["reason", "words"].map((name) => [name, skipForm.elements[name].value])];
    drafts.delete(current.id);
    const entry = { key: randomKey(), item: current.id, address: skipForm.action, fields, isNew: false, practice: false };
    skipForm.reset();
    outbox.add(entry);
    showNext();
  });

  leaveForm.addEventListener("submit", function (event) {
    isLeaving = outbox.size > 0;
    if (!isLeaving) return;
    event.preventDefault(); // the page that follows says that all is stored
    showStatus();
    outbox.hurry();
  });

  async function beat() {
    if (document.hidden || clock.sinceInput() > AWAY_AFTER_MS || (!current && !ready.length)) return;
    try {
      await fetch(root.dataset.heartbeat, {
        method: "POST", headers: { Accept: "application/json", "X-CSRFToken": window.dialevalToken() },
      });
    } catch {
      // The next rating says what is lost, if anything is.
    }
  }
  setInterval(beat, Number(root.dataset.heartbeatSeconds) * 1000);

  // --- the beginning ------------------------------------------------------------------------------------------

  const first = itemFrom(page.place.querySelector(".item"));
  ready = [...document.querySelectorAll("template.upcoming")]
    .map((template) => itemFrom(template.content.querySelector(".item")))
    .filter((item) => !outbox.holds(item.id));
  form.article = first.article;
  const typed = form.values;
  done += outbox.entries.filter((entry) => entry.isNew).length;
  if ("rated" in root.dataset) {
    first.values = typed;
    past = [first];
    at = 0;
    show(first, false);
  } else if (outbox.holds(first.id)) {
    showNext();
  } else {
    if (!form.isEmpty(typed)) drafts.set(first.id, typed);
    show(first, true);
  }
  const untold = news(root.dataset.outbox);
  if (untold) form.say(untold);
  outbox.pump();
})();
