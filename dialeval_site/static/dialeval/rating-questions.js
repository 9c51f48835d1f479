// The questions of a campaign's form: which is at hand, which are asked at all, what was answered and when. In place of
// RatingForm, and used as it is. Knows nothing of the server.
(function () {
  "use strict";
  const NARROW = matchMedia("(max-width: 899px)"); // there questions are asked one at a time, beneath the item
  const PREFIX = "q.";
  const MOST_ROWS = 200; // of marked words in one item

  function fillIn(text, values) {
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
  }

  class QuestionForm {
    constructor(form, words) {
      this.form = form;
      this.words = words;
      this.panel = document.getElementById("questions");
      this.version = this.panel.dataset.form;
      this.comment = document.getElementById("comment");
      this.error = document.getElementById("rating-error");
      this.count = document.getElementById("questions-answered");
      this.sendText = form.querySelector("[data-send-text]");
      this.sent = this.sendText.textContent;
      this.article = null;
      this.at = 0; // index of the question at hand among those that are asked
      this.answeredAt = {};
      this.shownAt = performance.now();
      for (const leftover of form.querySelectorAll("[data-without-script]")) leftover.remove();
      for (const slider of this.panel.querySelectorAll("[data-slider]")) slider.type = "range"; // a number without a script
      for (const button of this.panel.querySelectorAll("[data-mark]")) {
        button.hidden = false;
        button.addEventListener("click", () => this.mark(button.closest("[data-question]"), 0));
      }
      this.selected = null; // words of a judged response; the selection itself is gone once a button is pressed
      this.severity = null; // the list of the words that were marked last
      document.addEventListener("selectionchange", () => this.remember());
      document.addEventListener("change", (event) => this.changed(event.target));
      document.addEventListener("input", (event) => this.changed(event.target));
      document.addEventListener("focusin", (event) => this.focused(event.target));
      NARROW.addEventListener("change", () => this.draw());
    }

    // --- the questions ----------------------------------------------------------------------------------------

    all() {
      return [...this.panel.querySelectorAll("[data-question]")];
    }

    asked() {
      return this.all().filter((one) => !one.hidden);
    }

    questionOf(target) {
      const own = target.closest ? target.closest("[data-question]") : null;
      if (own) return own;
      if (!target.name || !target.name.startsWith(PREFIX)) return null;
      const key = target.name.slice(PREFIX.length).split(".")[0];
      return this.all().find((one) => one.dataset.question === key) || null;
    }

    controls() {
      const named = (root) => [...root.querySelectorAll(`[name^="${PREFIX}"]`)];
      return [...named(this.panel), ...(this.article ? named(this.article) : [])];
    }

    controlsOf(question) {
      const key = PREFIX + question.dataset.question;
      return this.controls().filter((one) => one.name === key || one.name.startsWith(`${key}.`));
    }

    answer(question) {
      return this.controlsOf(question).filter(isGiven).map((one) => one.value);
    }

    isAnswered(question) {
      const controls = this.inputsOf(question);
      if ("each" in question.dataset) { // one answer for every utterance, or rank for every option
        const names = new Set(controls.map((one) => one.name));
        return names.size > 0 && [...names].every((name) => controls.some((one) => one.name === name && isGiven(one)));
      }
      return controls.some(isGiven);
    }

    // Of a ranking a row for each response, with its ranks; of best and worst one for each of both; of labels of which each
    // response gets one, a row for each response.
    rowsOf(question) {
      if (question.dataset.type !== "utterance_labels") return inputsOfEach(question.querySelectorAll(".option-row"));
      const rows = this.article ? inputsOfEach(this.article.querySelectorAll(".tags")) : [];
      return rows.filter(([first]) => first.type === "radio" && this.questionOf(first) === question);
    }

    // What a rater gives, without what goes with it: which questions were on the page, the kind of a marked span.
    inputsOf(question) {
      return this.controlsOf(question).filter((one) => one.type !== "hidden" && one.tagName !== "SELECT");
    }

    // Questions whose condition does not hold are not asked, and whatever stands in them is not sent.
    showAsked() {
      for (const question of this.all()) {
        const isAsked = !question.dataset.when || this.holds(JSON.parse(question.dataset.when));
        question.hidden = !isAsked;
        question.disabled = !isAsked;
      }
    }

    holds(condition) {
      if (condition.all) return condition.all.every((one) => this.holds(one));
      if (condition.any) return condition.any.some((one) => this.holds(one));
      const other = this.all().find((one) => one.dataset.question === condition.question);
      const given = !other || other.hidden ? [] : this.answer(other);
      if (condition.in.length) return given.some((value) => condition.in.includes(value));
      const number = given.length ? Number(given[0]) : NaN; // "cannot judge" is neither below nor above
      return condition.below === null ? number > condition.above : number < condition.below;
    }

    get isStepping() {
      return NARROW.matches;
    }

    // Of the rows for marked words those that are filled, and one more.
    showRows(question) {
      const rows = [...question.querySelectorAll("[data-span]")];
      if (!rows.length) return;
      const next = rows.find(isFree) || (rows.length < MOST_ROWS ? this.addRow(question) : null);
      for (const row of rows) row.hidden = isFree(row) && row !== next;
    }

    addRow(question) {
      const rows = question.querySelectorAll("[data-span]");
      const row = rows[rows.length - 1].cloneNode(true);
      for (const control of row.querySelectorAll("[name]")) {
        control.name = control.name.replace(/\.\d+\.(\w+)$/, `.${rows.length}.$1`);
        if (control.tagName === "SELECT") control.selectedIndex = 0;
        else control.value = "";
      }
      for (const label of row.querySelectorAll(".sr")) label.textContent = label.textContent.replace(/\d+/, rows.length + 1);
      rows[rows.length - 1].after(row);
      return row;
    }

    draw() {
      this.showAsked();
      for (const question of this.all()) this.showRows(question);
      const asked = this.asked();
      this.at = Math.min(this.at, Math.max(0, asked.length - 1));
      const isStepping = this.isStepping;
      this.form.classList.toggle("stepping", isStepping);
      asked.forEach((question, place) => {
        question.classList.toggle("now", place === this.at);
        question.classList.toggle("away", isStepping && place !== this.at);
        question.classList.toggle("done", this.isAnswered(question));
        const rows = this.rowsOf(question);
        for (const row of rows) {
          const tags = row[0].closest(".tags");
          if (tags) tags.classList.toggle("now", place === this.at && row === rows.find((one) => !isChosen(one)));
        }
        question.querySelector("[data-place]").textContent =
          asked.length > 1 ? fillIn(this.words.place, { n: place + 1, all: asked.length }) : "";
      });
      const answered = asked.filter((question) => this.isAnswered(question)).length;
      this.count.textContent = fillIn(this.words.answered, { n: answered, all: asked.length });
      this.sendText.textContent = isStepping && this.at < asked.length - 1 ? this.words.next : this.sent;
    }

    goTo(place, isFocused = true) {
      this.at = place;
      this.draw();
      const question = this.asked()[place];
      if (!question || !isFocused) return;
      const controls = this.controlsOf(question);
      const first = controls.find((one) => one.type === "radio" && one.checked) || controls[0];
      if (first) first.focus({ preventScroll: true });
      question.scrollIntoView({ block: "nearest" });
    }

    changed(target) {
      const question = this.questionOf(target);
      if (!question) return;
      this.answeredAt[question.dataset.question] = performance.now();
      if (target.type === "range") this.showValue(target, true);
      this.say("");
      this.draw();
    }

    focused(target) {
      const question = this.questionOf(target);
      const place = question ? this.asked().indexOf(question) : -1;
      if (place >= 0 && place !== this.at) {
        this.at = place;
        this.draw();
      }
    }

    // --- as RatingForm ----------------------------------------------------------------------------------------

    get values() {
      return {
        answers: this.controls().map((one) => (isTicked(one)
          ? [one.name, one.value, one.checked]
          : [one.name, null, one.value, isGiven(one)])),
        flagged: this.form.elements.flagged.checked,
        comment: this.form.elements.comment.value,
      };
    }

    isEmpty(values) {
      return !values.comment && !values.answers.some(([, value, chosen, isGiven]) => (value === null ? isGiven : chosen));
    }

    fill(values, article) {
      this.article = article;
      const given = values || { answers: [], flagged: false, comment: "" };
      for (const [name, , , isMarked] of given.answers) { // of more marked words than the page has rows for
        const row = isMarked && /\.(\d+)\.text$/.exec(name);
        const question = row && this.questionOf({ name });
        while (question && question.querySelectorAll("[data-span]").length <= Number(row[1])) this.addRow(question);
      }
      for (const control of this.controls()) {
        if (control.name.endsWith(".asked")) continue;
        const own = given.answers.find(([name, value]) => name === control.name && value === (isTicked(control) ? control.value : null));
        if (isTicked(control)) control.checked = own ? own[2] : false;
        else if (control.tagName === "SELECT" && !own) control.selectedIndex = 0;
        else control.value = own ? own[2] : this.startOf(control, article);
        if ("fromResponse" in control.dataset) control.dataset.response = this.startOf(control, article);
        if (control.type === "range") this.showValue(control, Boolean(own && own[3]));
      }
      this.form.elements.flagged.checked = given.flagged;
      this.form.elements.comment.value = given.comment;
      this.comment.open = Boolean(given.comment);
      this.answeredAt = {};
      this.selected = this.severity = null;
      this.shownAt = performance.now();
      this.say("");
      this.at = 0;
      this.draw();
    }

    // Until it is moved a slider says nothing, wherever it stands.
    showValue(slider, isMoved) {
      slider.dataset.moved = isMoved ? "1" : "";
      this.panel.querySelector(`output[for="${slider.id}"]`).textContent = isMoved ? slider.value : "–";
    }

    remember() {
      const selection = document.getSelection();
      const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
      const inside = range && range.commonAncestorContainer;
      const bubble = inside && (inside.closest ? inside : inside.parentElement).closest(".judged");
      if (!bubble) return;
      const before = document.createRange();
      before.setStart(textOf(bubble), 0);
      before.setEnd(range.startContainer, range.startOffset);
      const start = [...before.toString()].length; // characters, not units of UTF-16
      this.selected = { text: range.toString(), utterance: bubble.dataset.utterance, start };
    }

    // The selected words fill the next free row.
    mark(question, label) {
      const row = [...question.querySelectorAll("[data-span]")].find(isFree);
      if (!this.selected || !row) return;
      row.querySelector("[data-words]").value = this.selected.text;
      row.querySelector("[data-utterance]").value = this.selected.utterance;
      row.querySelector("[data-start]").value = this.selected.start;
      const [labels, severities] = row.querySelectorAll("select");
      labels.selectedIndex = label;
      this.selected = null;
      this.severity = severities || null;
      document.getSelection().removeAllRanges();
      this.changed(row.querySelector("[data-words]"));
    }

    // By keys: the number of the selected words' label, then of their severity.
    pressInSpans(question, number) {
      if (this.selected && !document.getSelection().isCollapsed) return this.mark(question, number);
      this.severity.selectedIndex = number;
      this.changed(this.severity);
      this.severity = null;
      return undefined;
    }

    takesInSpans(question, number) {
      if (!question || question.dataset.type !== "span") return false;
      this.remember(); // a key may come before the browser has told that something is selected
      const isSelected = this.selected && !document.getSelection().isCollapsed;
      const list = isSelected ? question.querySelector("select") : this.severity;
      return Boolean(list && question.contains(list) && list.options[number]);
    }

    // A correction begins with what is to be corrected.
    startOf(control, article) {
      if (!("fromResponse" in control.dataset)) return "";
      const judged = article.querySelector(".judged");
      return judged ? textOf(judged).textContent.trim() : "";
    }

    atHand(key) {
      const question = this.asked()[this.at];
      if (!question) return undefined;
      const rows = this.rowsOf(question);
      if (rows.length) return inRows(question, rows, Number(key) - 1);
      return this.controlsOf(question).find((one) => one.dataset.key === key);
    }

    takes(key) {
      return this.takesInSpans(this.asked()[this.at], Number(key) - 1) || Boolean(this.atHand(key));
    }

    press(key) {
      const here = this.asked()[this.at];
      if (this.takesInSpans(here, Number(key) - 1)) {
        this.pressInSpans(here, Number(key) - 1);
        return false;
      }
      const control = this.atHand(key);
      const question = this.questionOf(control);
      const isOne = control.type === "radio";
      const rows = this.rowsOf(question);
      const ofResponses = question.dataset.type === "utterance_labels";
      if (!ofResponses && rows.length && rows.every(isChosen)) for (const other of rows.flat()) other.checked = false; // anew
      control.checked = isOne || !control.checked;
      control.focus({ preventScroll: true });
      this.changed(control);
      if (ofResponses) (rows.find((row) => !isChosen(row)) || [control])[0].scrollIntoView({ block: "nearest" });
      if (rows.length && !this.isAnswered(question)) return false;
      return isOne && this.nextAfterChoice();
    }

    isAnswer(control) {
      return Boolean(control.name) && control.name.startsWith(PREFIX);
    }

    // True where the choice was the last that was missing.
    nextAfterChoice() {
      const asked = this.asked();
      if (this.at < asked.length - 1) {
        this.goTo(this.at + 1);
        return false;
      }
      return this.missing() === undefined;
    }

    // By a pointer: on a phone the next question comes.
    clicked(target) {
      if (target.type !== "radio" || !this.isStepping) return false;
      const question = this.questionOf(target);
      if (!question || "each" in question.dataset) return false;
      return this.nextAfterChoice();
    }

    missing() {
      return this.asked().find((question) => "required" in question.dataset && !this.isAnswered(question));
    }

    // True where all is answered and can be sent.
    advance() {
      const asked = this.asked();
      if (this.isStepping && this.at < asked.length - 1) {
        const here = asked[this.at];
        if (here === this.missing()) this.sayMissing(here);
        else this.goTo(this.at + 1);
        return false;
      }
      const missing = this.missing();
      if (!missing) return true;
      this.goTo(asked.indexOf(missing));
      this.sayMissing(missing);
      return false;
    }

    sayMissing(question) {
      this.say(fillIn(this.words.missing, { question: question.querySelector("[data-title]").textContent.trim() }));
    }

    get isInside() {
      return this.isStepping && this.at > 0;
    }

    back() {
      if (!this.isInside) return false;
      this.goTo(this.at - 1);
      return true;
    }

    say(text) {
      this.error.textContent = text;
      this.error.hidden = !text;
    }

    fields(item, key, guidelines, times) {
      const fields = [["item", item], ["key", key], ["form", this.version]];
      for (const question of this.asked()) {
        for (const control of this.controlsOf(question)) if (isSent(control)) fields.push([control.name, control.value]);
        const at = this.answeredAt[question.dataset.question];
        if (at !== undefined) fields.push([["ms", question.dataset.question].join("."), String(Math.max(0, Math.round(at - this.shownAt)))]);
      }
      if (this.form.elements.flagged.checked) fields.push(["flagged", "1"]);
      fields.push(["comment", this.form.elements.comment.value], ["guidelines", guidelines]);
      for (const [name, value] of Object.entries(times)) fields.push([name, String(value)]);
      return fields;
    }
  }

  function inputsOfEach(rows) {
    return [...rows].map((row) => [...row.querySelectorAll("input")]);
  }

  function isChosen(row) {
    return row.some((one) => one.checked);
  }

  // By keys: the numbers of the responses, best first; or the best, then the worst; or of each response its label, where
  // all have one that of the response at hand.
  function inRows(question, rows, number) {
    if (question.dataset.type === "utterance_labels") {
      const row = rows.find((one) => !isChosen(one)) || rows.find((one) => one.includes(document.activeElement));
      return row && row[number];
    }
    const chosen = rows.every(isChosen) ? [] : rows.filter(isChosen);
    if (question.dataset.type === "best_worst") return (chosen.length ? rows[1] : rows[0])[number];
    return chosen.includes(rows[number]) ? undefined : rows[number] && rows[number][chosen.length];
  }

  function textOf(bubble) {
    return bubble.querySelector("[data-text], .text, .markdown") || bubble;
  }

  function isFree(row) {
    return !row.querySelector("[data-words]").value;
  }

  function isTicked(control) {
    return control.type === "radio" || control.type === "checkbox";
  }

  function isGiven(control) {
    if (isTicked(control)) return control.checked;
    if (control.type === "range") return control.dataset.moved === "1";
    if ("response" in control.dataset && control.value.trim() === control.dataset.response) return false; // nothing is corrected
    return control.type !== "hidden" && control.tagName !== "SELECT" && control.value.trim() !== "";
  }

  function isSent(control) {
    return isGiven(control) || ((control.type === "hidden" || control.tagName === "SELECT") && control.value !== "");
  }

  (window.dialevalRating = window.dialevalRating || {}).QuestionForm = QuestionForm;
})();
