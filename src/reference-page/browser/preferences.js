import { element } from "./elements.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Sets up the button for dark and light colors. Without a choice the colors are those of the system. */
export function openTheme() {
  const button = element("theme", HTMLButtonElement);
  const root = document.documentElement;
  const show = (/** @type {string | null} */ theme) => {
    if (theme !== null) root.dataset["theme"] = theme;
    button.textContent = isDark() ? "Light" : "Dark";
  };
  const isDark = () => (root.dataset["theme"] ?? (dark.matches ? "dark" : "light")) === "dark";
  show(localStorage.getItem("theme"));
  dark.addEventListener("change", () => show(null));
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    localStorage.setItem("theme", theme);
    show(theme);
  });
}

/** Shows all samples in this language, and keeps the choice. @param {string} language */
export function showLanguage(language) {
  document.body.dataset["language"] = language;
  localStorage.setItem("language", language);
  for (const button of document.querySelectorAll("button[data-language]"))
    button.setAttribute("aria-pressed", String(button.getAttribute("data-language") === language));
}

/** Shows the samples in the language that was chosen last. */
export function openLanguage() {
  const language = localStorage.getItem("language");
  if (language !== null) showLanguage(language);
}
