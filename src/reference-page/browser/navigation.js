import { element } from "./elements.js";

/**
 * Sets up the sidebar. The search shows only operations with every entered word in their service, name, method or path.
 * The menu opens the sidebar on narrow screens.
 */
export function openNavigation() {
  const navigation = element("navigation", HTMLElement);
  const search = element("search", HTMLInputElement);
  const menu = element("menu", HTMLButtonElement);
  search.addEventListener("input", () => find(navigation, search.value));
  const show = (/** @type {boolean} */ isOpen) => {
    document.body.classList.toggle("menu-open", isOpen);
    menu.setAttribute("aria-expanded", String(isOpen));
  };
  menu.addEventListener("click", () => show(!document.body.classList.contains("menu-open")));
  navigation.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a")) show(false);
  });
}

/** @param {HTMLElement} navigation @param {string} text */
function find(navigation, text) {
  const words = text.toLowerCase().split(/\s+/);
  let count = 0;
  for (const group of navigation.querySelectorAll("section")) {
    const items = [...group.querySelectorAll("li")];
    for (const item of items) item.hidden = !words.every((word) => item.dataset["words"]?.includes(word));
    const found = items.filter(({ hidden }) => !hidden).length;
    group.hidden = found === 0;
    count += found;
  }
  element("found", HTMLElement).textContent = text.trim() === "" ? "" : `${count} found`;
}

/** Opens the operation or schema that the fragment of the page's URL names, and scrolls to it. */
export function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView();
}
