// Swagger UI has a dark mode and waits to be told. What was chosen in the admin counts, else what the system asks for.
"use strict";

(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // storage is switched off
    }
  };
  const apply = () => {
    const theme = chosen();
    const dark = theme === "dark" || (theme !== "light" && system.matches);
    document.documentElement.classList.toggle("dark-mode", dark);
  };
  apply();
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
})();
