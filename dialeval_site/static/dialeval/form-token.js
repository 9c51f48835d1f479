// Logging in again, in another tab too, makes a new token, and a page that stayed open holds the one before: what it
// promised to keep could then never be sent. The cookie has the token that is true now.
(function () {
  "use strict";
  const NAME = "csrfmiddlewaretoken";

  function token() {
    // Over HTTPS its name begins with __Host-; the other is then left from before, or of another site of the domain.
    const cookies = document.cookie.split("; ");
    for (const name of ["__Host-csrftoken=", "csrftoken="]) {
      const cookie = cookies.find((one) => one.startsWith(name));
      if (cookie) return cookie.slice(name.length);
    }
    const field = document.querySelector(`[name=${NAME}]`);
    return field ? field.value : "";
  }

  document.addEventListener("submit", function (event) {
    const field = event.target.querySelector(`input[name=${NAME}]`);
    if (field) field.value = token();
  }, true);
  document.addEventListener("htmx:configRequest", function (event) {
    if (event.detail.parameters[NAME]) event.detail.parameters[NAME] = token();
  });

  window.dialevalToken = token;
})();
