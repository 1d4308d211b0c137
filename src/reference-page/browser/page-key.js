const NAME = "page-key";

/**
 * Returns the key that the page needs for demo tokens, or undefined when there is none. The service prints the key in
 * the fragment of the page's URL, which browsers never send. This function removes it from the URL and keeps it for
 * reloads until the tab is closed.
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
