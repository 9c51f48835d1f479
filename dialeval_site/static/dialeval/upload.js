// Handing in a file: dropping it on the form, seeing how much of it has been sent, stopping it. Without this script the form sends the file
// by itself and the browser shows the way. Also: a page that asks again and again rests while nobody looks.
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
  let request = null;
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
    begin(new FormData(form, event.submitter));
  });

  stop.addEventListener("click", function () { if (request) request.abort(); });

  function begin(data) {
    let announced = -1;
    request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", function (event) {
      if (!event.lengthComputable) return;
      const share = Math.floor(100 * event.loaded / event.total);
      bar.value = share;
      if (share < 100 && Math.floor(share / 10) === announced) return; // said every ten per cent, drawn always
      announced = Math.floor(share / 10);
      status.textContent = share < 100 ? share + " % " + words.sent + " (" + sized(event.loaded) + ")" : words.arrived;
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
