// Ratings on their way to the server. Each is kept in the browser's storage until the server has said that it has it:
// no failed request, reload or closed tab loses one, and its key makes sending it twice harmless.
(function () {
  "use strict";
  const PREFIX = "dialeval-rating";
  const LONGEST_WAIT_MS = 30_000;
  const TIME_OUT_MS = 20_000;

  class Outbox {
    // heard: {changed(), answered(entry, body), refused(entry, body), faulty(entry, errors), gone(entry)}, and, if it
    // likes, {extra(entry), emptied()}: another tab has sent the last
    constructor(name, heard) {
      this.name = name;
      this.prefix = `${PREFIX}:${name}:`;
      this.heard = heard;
      this.entries = this.stored();
      this.failures = 0;
      this.trouble = ""; // "" | "line" | "login"
      this.sending = null;
      this.timer = 0;
      addEventListener("online", () => this.hurry());
      addEventListener("focus", () => this.trouble && this.hurry());
      addEventListener("storage", (event) => this.forgetSent(event));
      addEventListener("beforeunload", (event) => {
        if (this.entries.length) event.preventDefault();
      });
    }

    stored() {
      const found = [];
      try {
        for (let place = 0; place < localStorage.length; place += 1) {
          const key = localStorage.key(place);
          if (key.startsWith(this.prefix)) found.push(JSON.parse(localStorage.getItem(key)));
        }
      } catch {
        // No storage: what waits lasts as long as the page.
      }
      return found.filter((entry) => entry && entry.key && entry.item).sort((one, other) => one.at - other.at);
    }

    // Another tab of the same rater has sent it.
    forgetSent(event) {
      if (!event.key || !event.key.startsWith(this.prefix) || event.newValue !== null) return;
      const kept = this.entries.filter((entry) => entry === this.sending || this.prefix + entry.key !== event.key);
      if (kept.length === this.entries.length) return;
      this.entries = kept;
      if (!kept.length) this.calmDown();
      this.heard.changed();
      if (!kept.length && this.heard.emptied) this.heard.emptied();
    }

    // Nothing waits any more, whatever stood in the way.
    calmDown() {
      clearTimeout(this.timer);
      this.timer = 0;
      this.failures = 0;
      this.trouble = "";
    }

    add(entry) {
      entry.at = Date.now();
      this.entries.push(entry);
      try {
        localStorage.setItem(this.prefix + entry.key, JSON.stringify(entry));
      } catch {
        // As above.
      }
      this.heard.changed();
      this.pump();
    }

    drop(entry) {
      this.entries = this.entries.filter((one) => one.key !== entry.key);
      try {
        localStorage.removeItem(this.prefix + entry.key);
      } catch {
        // As above.
      }
    }

    holds(item) {
      return this.entries.some((entry) => entry.item === item);
    }

    get size() {
      return this.entries.length;
    }

    hurry() {
      clearTimeout(this.timer);
      this.timer = 0;
      this.pump();
    }

    // One at a time, in the order in which they were given.
    async pump() {
      if (this.sending || this.timer || !this.entries.length) return;
      const entry = this.entries[0];
      this.sending = entry;
      const outcome = await this.send(entry);
      this.sending = null;
      if (outcome.wait) {
        this.failures += 1;
        this.trouble = outcome.wait;
        const pause = Math.min(LONGEST_WAIT_MS, 500 * 2 ** Math.min(this.failures, 8));
        this.timer = setTimeout(() => this.hurry(), pause * (0.75 + Math.random() / 2));
        this.heard.changed();
        return;
      }
      this.failures = 0;
      this.trouble = "";
      this.drop(entry);
      this.heard[outcome.tell](entry, outcome.body);
      this.heard.changed();
      this.pump();
    }

    async send(entry) {
      const body = new URLSearchParams(entry.fields);
      body.append("outbox", this.name); // whose it is: somebody else may be logged in by now
      for (const [name, value] of this.heard.extra ? this.heard.extra(entry) : []) body.append(name, value);
      const stop = new AbortController();
      const alarm = setTimeout(() => stop.abort(), TIME_OUT_MS);
      try {
        const answer = await fetch(entry.address, {
          method: "POST",
          headers: { Accept: "application/json", "X-CSRFToken": window.dialevalToken() },
          body,
          signal: stop.signal,
        });
        const isJson = (answer.headers.get("Content-Type") || "").includes("application/json");
        if (answer.status === 401 || answer.status === 403) return { wait: "login" };
        if (answer.status === 404 || answer.status === 410) return { tell: "gone" };
        if (!isJson) return { wait: "line" };
        if (answer.status === 422) return { tell: "faulty", body: await answer.json() };
        if (answer.status === 409) return { tell: "refused", body: await answer.json() };
        if (answer.ok) return { tell: "answered", body: await answer.json() };
        return { wait: "line" };
      } catch {
        return { wait: "line" };
      } finally {
        clearTimeout(alarm);
      }
    }
  }

  Object.assign((window.dialevalRating = window.dialevalRating || {}), { Outbox });
})();
