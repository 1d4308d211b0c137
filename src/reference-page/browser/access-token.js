import { element } from "./elements.js";

const HINT = "For a demo token, open the address that the service printed when it started";

/**
 * Sets up the form for the access token. The token stays in the memory of the page. With `tokenPath` and `key`, a
 * button fetches a demo token. Otherwise the user pastes one. Returns a function that returns the current token, or "".
 *
 * @param {string | undefined} tokenPath
 * @param {string | undefined} key
 * @returns {() => string}
 */
export function openAccess(tokenPath, key) {
  const input = element("access-token", HTMLInputElement);
  const button = element("demo-token", HTMLButtonElement);
  const status = element("access-status", HTMLOutputElement);
  element("access", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => {
    status.value = "";
  });
  if (tokenPath !== undefined && key !== undefined) {
    button.hidden = false;
    button.addEventListener("click", () => void fill(tokenPath, key, input, status));
  } else if (tokenPath !== undefined) status.value = HINT;
  return () => input.value.trim();
}

/** @param {string} tokenPath @param {string} key @param {HTMLInputElement} input @param {HTMLOutputElement} status */
async function fill(tokenPath, key, input, status) {
  const response = await fetch(tokenPath, { method: "POST", headers: { "Page-Key": key } });
  const { access_token: token = "", expires_in: seconds = 0 } = response.ok ? await response.json() : {};
  input.value = token;
  const until = new Date(Date.now() + seconds * 1_000).toLocaleTimeString();
  if (response.ok) status.value = `Valid until ${until}`;
  else status.value = response.status === 404 ? HINT : `No token: the service answered with status ${response.status}`;
}
