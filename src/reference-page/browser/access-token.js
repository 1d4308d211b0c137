/**
 * Sets up the form for the access token, which stays in the memory of the page. With `tokenPath` and `key`, a button
 * fetches a demo token. Otherwise the user pastes one.
 *
 * @param {string | undefined} tokenPath
 * @param {string | undefined} key
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
  return {
    plugin: () => withoutDialogs,
    authorize: (/** @type {SwaggerRequest} */ request) => authorize(request, input),
  };
}

const HINT = "For a demo token, open the address that the service printed when it started";

/** Hides the package's own dialogs, which support only the standard flows of OpenAPI. */
const withoutDialogs = { wrapComponents: { authorizeBtn: () => nothing, authorizeOperationBtn: () => nothing } };

function nothing() {
  return null;
}

/** Adds the token to requests for operations. @param {SwaggerRequest} request @param {HTMLInputElement} input */
function authorize(request, input) {
  const token = input.value.trim();
  if (token !== "" && !request.loadSpec) request.headers["Authorization"] = `Bearer ${token}`;
  return request;
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

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`the page has no element ${id} of the expected type`);
  return found;
}
