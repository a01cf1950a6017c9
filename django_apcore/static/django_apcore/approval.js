/* The request page works without this. It adds: no second submit, a reason before a rejection, and news of what others did. */
"use strict";

(() => {
  const page = document.querySelector(".apcore-approval");
  if (!page) return;

  const form = document.getElementById("apcore-form");
  const refusal = document.getElementById("apcore-refusal");
  const stale = document.getElementById("apcore-stale");
  const buttons = () => page.querySelectorAll("form button");

  if (refusal) refusal.focus();

  page.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) {
      event.preventDefault();
      return;
    }
    event.target.dataset.sent = "yes";
    // Later, because a button that is disabled now would not name the address it submits to.
    setTimeout(() => buttons().forEach((button) => { button.disabled = true; }));
  });

  // Back from the browser's memory: nothing is on its way any more.
  window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });

  if (form) {
    const reason = form.elements.namedItem("reason");
    form.addEventListener("click", (event) => {
      const verdict = event.target.dataset.verdict;
      if (!verdict) return;
      reason.value = reason.value.trimStart();
      reason.required = verdict === "reject";
      if (!reason.reportValidity()) event.preventDefault();
    });
    reason.addEventListener("input", () => { reason.required = false; });
  }

  const look = async () => {
    if (document.hidden) return;
    let news;
    try {
      const response = await fetch(page.dataset.stateUrl, { credentials: "same-origin", redirect: "error" });
      if (!response.ok) return;
      news = await response.json();
    } catch {
      return;
    }
    if (news.state === page.dataset.state) return;
    clearInterval(watch);
    if (!form) {
      window.location.replace(page.dataset.url);
      return;
    }
    stale.hidden = false;
    buttons().forEach((button) => { button.disabled = true; });
    stale.scrollIntoView({ block: "center" });
  };

  const watch = setInterval(look, page.dataset.waiting === "yes" ? 1500 : 5000);
  document.addEventListener("visibilitychange", look);
})();
