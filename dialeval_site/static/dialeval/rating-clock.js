// How long a rater looked at an item: from when it could be seen, without the time in which nothing was done.
(function () {
  "use strict";
  const IDLE_AFTER_MS = 60_000;

  class Clock {
    constructor() {
      this.lastInput = performance.now();
      this.begin();
      for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "touchstart", "scroll"]) {
        addEventListener(kind, () => this.input(), { capture: true, passive: true });
      }
      document.addEventListener("visibilitychange", () => this.see());
    }

    // A new item is on the page.
    begin() {
      this.shownAt = null;
      this.shownMs = null;
      this.firstKeyAt = null;
      this.active = 0;
      this.since = null; // from when on active time is counted; null while the page is hidden
      this.see();
    }

    see() {
      if (document.hidden) {
        this.count();
        this.since = null;
        return;
      }
      if (this.shownAt === null) {
        this.shownAt = performance.now();
        this.shownMs = Date.now();
      }
      this.since = performance.now();
    }

    input() {
      this.count();
      this.lastInput = performance.now();
    }

    // After a minute without a key or a movement nobody is thought to be reading.
    count() {
      if (this.since === null) return;
      const now = performance.now();
      this.active += Math.min(now - this.since, IDLE_AFTER_MS);
      this.since = now;
    }

    key() {
      if (this.firstKeyAt === null) this.firstKeyAt = performance.now();
    }

    sinceInput() {
      return performance.now() - this.lastInput;
    }

    read() {
      this.count();
      const from = (at) => (at === null || this.shownAt === null ? "" : Math.max(0, Math.round(at - this.shownAt)));
      return {
        shown_ms: this.shownMs === null ? "" : this.shownMs,
        first_key_ms: from(this.firstKeyAt),
        submit_ms: from(performance.now()),
        active_ms: Math.round(this.active),
      };
    }
  }

  (window.dialevalRating = window.dialevalRating || {}).Clock = Clock;
})();
