const NAME = "page-key";

/**
 * Returns the key that the page needs for demo tokens, or undefined when there is none. The service prints the page's
 * URL with the key in the fragment, because browsers never send fragments. This function removes the key from the URL.
 * It keeps the key for reloads until the tab is closed.
 *
 * @returns {string | undefined}
 */
export function takePageKey() {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (key !== undefined) {
    sessionStorage.setItem(NAME, key);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(NAME) ?? undefined;
}
