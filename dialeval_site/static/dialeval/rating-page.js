// What a rater sees of the work: the item, its heading, how much is done, what waits. Knows nothing of what comes next.
(function () {
  "use strict";
  const { bringIntoView } = window.dialevalView;
  const { recalled, remember } = window.dialevalRating;
  const NARROW = 700;
  const OPEN_FOR_ITEMS = 3;

  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  }

  class RatingPage {
    constructor(bar) {
      this.bar = bar;
      this.place = document.getElementById("item-place");
      this.waits = document.getElementById("item-waits");
      this.heading = document.getElementById("item-heading");
      this.announcer = document.getElementById("rating-announcer");
      this.status = document.getElementById("rating-status");
      this.editingNote = document.getElementById("rating-editing");
      this.words = document.getElementById("rating-texts").dataset;
    }

    show(item, isNew, total) {
      if (this.place.firstElementChild !== item.article) this.place.replaceChildren(item.article);
      this.rememberPersonas(item);
      this.waits.hidden = true;
      this.place.hidden = this.bar.hidden = false;
      this.bar.querySelector(".bar-notes").append(this.status);
      document.getElementById("skip-button").hidden = !isNew;
      this.editingNote.hidden = isNew;
      const text = this.titleOf(item, isNew, total);
      this.heading.textContent = text;
      document.title = document.title.replace(/^[^·]*/, `${text} `);
      this.announce(text);
      this.focusHeading();
      bringIntoView(item.article, this.bar);
    }

    titleOf(item, isNew, total) {
      if (!isNew && !item.number) return this.words.earlier;
      return fill(isNew ? this.words.item : this.words.earlierItem, { n: item.number, total: Math.max(total, item.number) });
    }

    // On a phone they are open for the first items and a line each after that, unless the rater chose.
    rememberPersonas({ article, number }) {
      const folded = innerWidth < NARROW && number > OPEN_FOR_ITEMS;
      for (const one of article.querySelectorAll("[data-persona]")) {
        const key = `dialeval-persona-${one.dataset.persona}`;
        one.open = (recalled(key) || (folded ? "closed" : "open")) === "open";
        one.querySelector("summary").addEventListener("click", function () {
          remember(key, one.open ? "closed" : "open"); // it is toggled after the click
        });
      }
    }

    progress(done, total) {
      const line = document.getElementById("rating-progress");
      line.max = Math.max(total, 1);
      line.value = done;
      line.textContent = done;
    }

    // No item is on the page.
    wait() {
      this.place.hidden = this.bar.hidden = this.editingNote.hidden = true;
      this.waits.hidden = false;
      this.waits.append(this.status);
      this.focusHeading();
    }

    // How many are not sent yet, what stands in the way ("line", "login", or nothing), and whether a pause waits for them.
    showStatus(unsent, trouble, isLeaving) {
      this.waits.querySelector(".waits-for-next").hidden = Boolean(trouble);
      this.waits.querySelector(".waits-for-line").hidden = trouble !== "line";
      if (!unsent || (!trouble && !isLeaving)) {
        this.status.replaceChildren();
        return;
      }
      const { words } = this;
      const waiting = unsent === 1 ? words.waitsOne : fill(words.waitsMany, { n: unsent });
      const counted = isLeaving ? `${waiting} ${words.leaving}` : waiting;
      if (trouble !== "login") {
        this.status.textContent = trouble ? `${counted} ${words.again}` : counted;
        return;
      }
      const link = Object.assign(document.createElement("a"), {
        href: words.loginAddress, target: "_blank", textContent: words.loginLink,
      });
      this.status.replaceChildren(`${words.login} ${counted} `, link);
    }

    // What was expected of a practice item, in its place, until the rater goes on.
    showFeedback(html, goOn) {
      const feedback = document.createElement("div");
      feedback.innerHTML = html;
      this.place.replaceChildren(feedback);
      this.place.hidden = false;
      this.waits.hidden = this.bar.hidden = true;
      feedback.querySelector("[data-go-on]").addEventListener("click", function (event) {
        event.preventDefault();
        goOn();
      });
      feedback.querySelector("h2").focus();
    }

    showGuidelines(html) {
      const text = document.querySelector("[data-guidelines-text]");
      if (text) text.innerHTML = html;
      document.getElementById("guidelines-changed").hidden = false;
    }

    announce(text) {
      this.announcer.textContent = text;
    }

    focusHeading() {
      this.heading.focus({ preventScroll: true });
    }
  }

  Object.assign((window.dialevalRating = window.dialevalRating || {}), { RatingPage, fill });
})();
