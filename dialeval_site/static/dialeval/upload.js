// Handing in a file: dropping it on the form, seeing how much of it has been sent, stopping it. Without this script the form sends the file
// by itself and the browser shows the way. A large file goes in parts where the page takes them: sent again, it goes on. Also: a page that asks again and again rests while nobody looks.
(function () {
  "use strict";

  document.addEventListener("htmx:beforeRequest", function (event) {
    if (document.hidden && event.target instanceof Element && event.target.closest("[data-rests-hidden]")) event.preventDefault();
  });

  const form = document.getElementById("upload");
  if (!form || !window.FormData || !new XMLHttpRequest().upload) return;
  const field = form.querySelector("input[type=file]");
  const name = form.elements.name;
  const drop = form.querySelector("[data-drop]");
  const chosen = form.querySelector("[data-chosen]");
  const error = form.querySelector("[data-upload-error]");
  const area = form.querySelector("[data-upload-progress]");
  const bar = area.querySelector("progress");
  const status = area.querySelector("[data-upload-status]");
  const send = form.querySelector("[data-upload-send]");
  const stop = form.querySelector("[data-upload-stop]");
  const words = form.dataset;
  const PARTS_FROM = 20e6, ENDS = 1e6, BREAKS = 5;
  let request = null, isStopped = false;
  let namedByFile = "";

  function sized(bytes) {
    const units = ["B", "kB", "MB", "GB"];
    let step = 0;
    while (bytes >= 1000 && step < units.length - 1) { bytes /= 1000; step += 1; }
    return (step && bytes < 100 ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[step];
  }

  function complain(text) {
    error.hidden = !text;
    error.firstElementChild.textContent = text;
    if (text) error.scrollIntoView({ block: "nearest" });
  }

  function show() {
    const file = field.files[0];
    chosen.hidden = !file;
    if (!file) return;
    chosen.textContent = file.name + " · " + sized(file.size);
    complain(fault(file));
    if (!("keepsName" in words) && (!name.value.trim() || name.value === namedByFile)) {
      namedByFile = file.name.replace(/\.[a-z0-9]{1,6}$/i, "").slice(0, name.maxLength > 0 ? name.maxLength : 80);
      name.value = namedByFile;
    }
  }

  function fault(file) {
    if (!file) return words.missing;
    if (file.size === 0) return words.empty;
    return file.size > Number(words.largest) ? words.tooLarge : "";
  }

  // --- dropping ---
  form.querySelector("[data-drop-hint]").hidden = false;
  field.addEventListener("change", show);
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, function (event) {
      event.preventDefault();
      if (request) return;
      event.dataTransfer.dropEffect = "copy";
      drop.classList.add("over");
    });
  }
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, function () { drop.classList.remove("over"); });
  drop.addEventListener("drop", function (event) {
    event.preventDefault();
    if (request || !event.dataTransfer.files.length) return;
    if (event.dataTransfer.files.length > 1) { complain(words.one); return; }
    field.files = event.dataTransfer.files;
    show();
  });
  // A file that misses its place must not take the browser away from what was written.
  for (const kind of ["dragover", "drop"]) {
    window.addEventListener(kind, function (event) {
      if (event.dataTransfer && Array.from(event.dataTransfer.types).includes("Files")) event.preventDefault();
    });
  }

  // --- sending ---
  form.addEventListener("submit", function (event) {
    const file = field.files[0];
    if (!file && "optional" in words) return;
    event.preventDefault();
    if (request) return;
    const wrong = fault(file) || (name.value.trim() ? "" : words.nameless);
    complain(wrong);
    if (wrong) { (fault(file) ? field : name).focus(); return; }
    const data = new FormData(form, event.submitter);
    if ("parts" in words && window.crypto.subtle && file.size > PARTS_FROM) beginParts(file, data);
    else begin(data);
  });

  stop.addEventListener("click", function () { isStopped = true; if (request) request.abort(); });

  // --- in parts ---
  function beginParts(file, data) {
    working(true);
    isStopped = false;
    request = new XMLHttpRequest(); // until the first one is sent, the form is at work
    inParts(file).then(function (token) {
      data.delete("file");
      data.set("uploaded", token);
      begin(data);
    }, function (problem) { again(isStopped ? words.stopped : problem.message); });
  }

  async function inParts(file) {
    const known = new Blob([file.name, "|", file.size, "|", file.lastModified, "|", file.slice(0, ENDS), file.slice(-ENDS)]);
    const said = JSON.stringify({ file_name: file.name, size: file.size, sha256: hex(await digest(known)) });
    let upload = await ask(words.parts, said, { "Content-Type": "application/json" }), breaks = 0;
    while (!upload.uploaded) {
      const start = upload.received, part = file.slice(start, start + upload.part_bytes);
      const headers = {
        "Content-Type": "application/partial-upload", "Upload-Offset": start,
        "Content-Digest": "sha-256=:" + btoa(String.fromCharCode(...await digest(part))) + ":"
      };
      try {
        upload = await ask(words.parts + upload.id + "/", part, headers, function (sent) { tell((start + sent) / file.size, start + sent); });
        breaks = 0;
      } catch (problem) {
        breaks += 1;
        if (isStopped || problem.isFinal || breaks === BREAKS) throw problem;
        await new Promise(function (done) { window.setTimeout(done, 1000 * 2 ** breaks); });
        upload = await ask(words.parts, said, { "Content-Type": "application/json" });
      }
    }
    return upload.uploaded;
  }

  async function digest(blob) {
    return new Uint8Array(await window.crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  }

  function hex(bytes) {
    return Array.from(bytes, function (one) { return one.toString(16).padStart(2, "0"); }).join("");
  }

  // The answer's JSON. Else an error whose message is for the page; isFinal: asking again would not help.
  function ask(address, body, headers, moved) {
    return new Promise(function (resolve, reject) {
      const fail = function (text, isFinal) { reject(Object.assign(new Error(text), { isFinal })); };
      if (isStopped) { fail(words.stopped, true); return; }
      request = new XMLHttpRequest();
      request.open("POST", address);
      for (const name of Object.keys(headers)) request.setRequestHeader(name, headers[name]);
      request.setRequestHeader("Accept", "application/json");
      request.setRequestHeader("X-CSRFToken", window.dialevalToken());
      if (moved) request.upload.addEventListener("progress", function (event) { moved(event.loaded); });
      request.addEventListener("load", function () {
        let answer = null;
        try { answer = JSON.parse(this.responseText); } catch { answer = null; }
        if (this.status < 300 && answer) { resolve(answer); return; }
        if (this.status === 401) { fail(words.login, true); return; }
        const mayHelp = this.status >= 500 || this.status === 409 && answer && answer.code === "offset" || answer && answer.code === "digest";
        fail(answer && answer.errors ? answer.errors[0].message : words.refused, !mayHelp);
      });
      request.addEventListener("error", function () { fail(words.lost, false); });
      request.addEventListener("abort", function () { fail(words.stopped, true); });
      request.send(body);
    });
  }

  let announced = -1;
  function tell(part, bytes) {
    const share = Math.floor(100 * part);
    bar.value = share;
    if (share < 100 && Math.floor(share / 10) === announced) return; // said every ten per cent, drawn always
    announced = Math.floor(share / 10);
    status.textContent = share < 100 ? share + " % " + words.sent + " (" + sized(bytes) + ")" : words.arrived;
  }

  function begin(data) {
    request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", function (event) {
      if (event.lengthComputable) tell(event.loaded / event.total, event.loaded);
    });
    // From here on the site may store it, whatever becomes of the connection.
    request.upload.addEventListener("load", function () { stop.hidden = true; });
    request.addEventListener("load", function () { arrived(request); });
    request.addEventListener("error", function () { again(lost()); });
    request.addEventListener("abort", function () { again(words.stopped); });
    working(true);
    request.send(data);
  }

  function lost() {
    return stop.hidden ? words.unsure : words.lost;
  }

  function arrived(answer) {
    let document_ = null;
    try { document_ = JSON.parse(answer.responseText); } catch { document_ = null; }
    if (answer.status < 300 && document_ && document_.location) {
      status.textContent = words.arrived;
      window.location.assign(document_.location);
      return;
    }
    if (answer.status === 401) { again(words.login); return; }
    if (answer.status === 413 && !document_) { again(words.tooLarge); return; }
    const told = document_ && document_.errors ? document_.errors.map(function (one) { return one.message; }).join(" ") : "";
    again(told || (answer.status >= 400 && answer.status < 500 ? words.refused : words.unsure));
  }

  function again(text) {
    request = null;
    working(false);
    complain(text);
    send.focus();
  }

  function working(is) {
    area.hidden = !is;
    announced = -1;
    bar.value = 0;
    status.textContent = "";
    for (const one of form.querySelectorAll("input, textarea, [data-upload-send]")) one.disabled = is;
    stop.hidden = false;
    if (is) stop.focus();
  }

  // Back from the submission's page: the browser may have kept this one as it was left.
  window.addEventListener("pageshow", function (event) { if (event.persisted) { request = null; working(false); } });
  window.addEventListener("beforeunload", function (event) { if (request && request.readyState < 4) event.preventDefault(); });
  if (field.files.length) show();
})();
