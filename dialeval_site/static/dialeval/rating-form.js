// The bar at the bottom: five keys, then, for a low score, the axes; flag and comment. Knows nothing of the server.
(function () {
  "use strict";

  class RatingForm {
    constructor(form, axesBelow, words) {
      this.form = form;
      this.axesBelow = axesBelow;
      this.words = words;
      this.scoreStep = form.querySelector("[data-step=score]");
      this.axesStep = form.querySelector("[data-step=axes]");
      this.comment = document.getElementById("comment");
      this.error = document.getElementById("rating-error");
      for (const leftover of form.querySelectorAll("[data-without-script]")) leftover.remove();
    }

    get values() {
      return {
        score: this.score,
        axes: this.checked("axis"),
        flagged: this.form.elements.flagged.checked,
        comment: this.form.elements.comment.value,
      };
    }

    fill(values) {
      const given = values || { score: null, axes: [], flagged: false, comment: "" };
      for (const radio of this.radios()) radio.checked = Number(radio.value) === given.score;
      for (const box of this.boxes()) box.checked = given.axes.includes(box.value);
      this.form.elements.flagged.checked = given.flagged;
      this.form.elements.comment.value = given.comment;
      this.comment.open = Boolean(given.comment);
      this.say("");
      this.goTo("score");
    }

    radios() {
      return [...this.form.querySelectorAll("input[name=score]")];
    }

    boxes() {
      return [...this.form.querySelectorAll("input[name=axis]")];
    }

    checked(name) {
      return [...this.form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value);
    }

    get score() {
      const radio = this.radios().find((one) => one.checked);
      return radio ? Number(radio.value) : null;
    }

    isEmpty(values) {
      return values.score === null && !values.comment;
    }

    isAnswer(control) {
      return control.name === "score";
    }

    get step() {
      return this.axesStep && !this.axesStep.hidden ? "axes" : "score";
    }

    choose(score) {
      const radio = this.radios().find((one) => Number(one.value) === score);
      if (!radio) return;
      radio.checked = true;
      radio.focus({ preventScroll: true });
      this.say("");
    }

    toggleAxis(number) {
      const box = this.boxes()[number - 1];
      if (!box) return;
      box.checked = !box.checked;
      box.focus({ preventScroll: true });
    }

    takes(key) {
      return /^[1-9]$/.test(key);
    }

    // True where a score was chosen, which can be sent at once.
    press(key) {
      if (this.step === "axes") {
        this.toggleAxis(Number(key));
        return false;
      }
      this.choose(Number(key));
      return this.score === Number(key);
    }

    clicked() {
      return true;
    }

    // True where all is said and can be sent.
    advance() {
      if (this.score === null) {
        this.say(this.words.choose);
        return false;
      }
      if (this.step === "axes" || !this.asksAxes()) return true;
      this.goTo("axes", this.words.chosen.replace("{score}", this.score));
      return false;
    }

    // Whether there is a step to go back to within the form.
    get isInside() {
      return this.step === "axes";
    }

    back() {
      if (!this.isInside) return false;
      this.goTo("score");
      this.choose(this.score);
      return true;
    }

    asksAxes() {
      return Boolean(this.axesStep) && this.axesBelow !== null && this.score !== null && this.score < this.axesBelow;
    }

    goTo(step, chosen) {
      if (!this.axesStep) return;
      this.axesStep.hidden = step !== "axes";
      this.scoreStep.hidden = step === "axes";
      if (step !== "axes") return;
      this.axesStep.querySelector("[data-chosen]").textContent = chosen || "";
      const first = this.boxes()[0];
      if (first) first.focus({ preventScroll: true });
    }

    say(text) {
      this.error.textContent = text;
      this.error.hidden = !text;
    }

    // What is sent; axes only where they were asked for.
    fields(item, key, guidelines, times) {
      const fields = [["item", item], ["key", key], ["score", String(this.score)]];
      if (this.asksAxes()) {
        fields.push(["axes_asked", "1"]);
        for (const axis of this.checked("axis")) fields.push(["axis", axis]);
      }
      if (this.form.elements.flagged.checked) fields.push(["flagged", "1"]);
      fields.push(["comment", this.form.elements.comment.value], ["guidelines", guidelines]);
      for (const [name, value] of Object.entries(times)) fields.push([name, String(value)]);
      return fields;
    }
  }

  (window.dialevalRating = window.dialevalRating || {}).RatingForm = RatingForm;
})();
