// What the rating pages keep, for this tab or (preferences) for good; where storage is switched off, nothing.
(function () {
  "use strict";
  const NEWS = "dialeval-rating-news:"; // and the outbox: of one rater in one campaign

  function recalled(key) {
    try {
      return sessionStorage.getItem(key) || "";
    } catch {
      return "";
    }
  }

  function remember(key, value) {
    try {
      sessionStorage.setItem(key, value);
    } catch {
      // Then it is not remembered.
    }
  }

  // A preference of the person, for every tab and the next time.
  function preferred(key) {
    try {
      return localStorage.getItem(key) || "";
    } catch {
      return "";
    }
  }

  function prefer(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Then it holds on this page alone.
    }
  }

  // What the next page says if this one is left before it could: of several that were refused, the reason of each.
  function tell(outbox, text) {
    const before = recalled(NEWS + outbox);
    if (!before.includes(text)) remember(NEWS + outbox, `${before} ${text}`.trim());
  }

  function news(outbox) {
    const text = recalled(NEWS + outbox);
    remember(NEWS + outbox, "");
    return text;
  }

  // What was typed for an item that was left without sending. Of the rater whose outbox it is, not of who comes after.
  class Drafts {
    constructor(outbox) {
      this.prefix = `dialeval-rating-draft:${outbox}:`;
      this.typed = new Map();
    }

    get(item) {
      if (this.typed.has(item)) return this.typed.get(item);
      const kept = recalled(this.prefix + item);
      return kept ? JSON.parse(kept) : undefined;
    }

    set(item, values) {
      this.typed.set(item, values);
    }

    delete(item) {
      this.typed.delete(item);
      if (recalled(this.prefix + item)) remember(this.prefix + item, "");
    }

    // The page is about to be left, and comes again.
    keep() {
      for (const [item, values] of this.typed) remember(this.prefix + item, JSON.stringify(values));
    }
  }

  Object.assign((window.dialevalRating = window.dialevalRating || {}), { Drafts, news, prefer, preferred, recalled, remember, tell });
})();
