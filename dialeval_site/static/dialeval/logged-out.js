// A part of the page was asked for and its reader is logged out: the page stays as it is, with all that was typed, says
// so once, and takes the words back when it is answered again. A chat has words of its own beside its message.
(function () {
  "use strict";

  const said = () => document.querySelector("[data-logged-out]");

  document.addEventListener("htmx:responseError", function (event) {
    const words = document.getElementById("logged-out");
    if (event.detail.xhr.status !== 401 || said() || !words || document.querySelector("[data-chat-login]")) return;
    document.getElementById("main").prepend(words.content.cloneNode(true));
  });
  document.addEventListener("htmx:beforeOnLoad", function (event) {
    if (event.detail.xhr.status < 400 && said()) said().remove();
  });
})();
