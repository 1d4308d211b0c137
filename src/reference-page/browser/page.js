import { openAccess } from "./access-token.js";
import { fillKey, renewKey } from "./idempotency-key.js";
import { openNavigation, openTarget } from "./navigation.js";
import { takePageKey } from "./page-key.js";
import { openLanguage, openTheme, showLanguage } from "./preferences.js";
import { send } from "./try-it.js";

const tokenOf = openAccess(document.body.dataset["tokenPath"], takePageKey());
openTheme();
openLanguage();
openNavigation();
for (const origin of document.querySelectorAll(".origin")) origin.textContent = location.origin;

document.addEventListener("submit", (event) => {
  if (!(event.target instanceof HTMLFormElement) || !event.target.matches(".try")) return;
  event.preventDefault();
  void send(event.target, tokenOf());
});
document.addEventListener("click", ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return;
  const { language } = target.dataset;
  if (language !== undefined) showLanguage(language);
  else if (target.matches(".new-key")) renewKey(target);
  else if (target.matches(".copy")) void copy(target);
});
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return;
  const body = target.form?.querySelector("textarea");
  if (body) body.value = target.value;
});
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.open) fillKey(target);
  },
  true,
);
addEventListener("hashchange", openTarget);
openTarget();
document.body.classList.add("ready");

/** @param {HTMLButtonElement} button */
async function copy(button) {
  const { language } = document.body.dataset;
  const sample = button.closest(".samples")?.querySelector(`pre.${language}`);
  await navigator.clipboard.writeText(sample?.textContent ?? "");
  button.textContent = "Copied";
}
