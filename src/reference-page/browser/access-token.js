/**
 * The form above the reference that holds the access token, in the memory of the page alone. Where the service has a
 * development issuer, `tokenPath` is where one click gets a token; else it is to be pasted.
 *
 * @param {string | undefined} tokenPath
 */
export function openAccess(tokenPath) {
  const input = element("access-token", HTMLInputElement);
  const button = element("demo-token", HTMLButtonElement);
  const status = element("access-status", HTMLOutputElement);
  element("access", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => {
    status.value = "";
  });
  if (tokenPath !== undefined) {
    button.hidden = false;
    button.addEventListener("click", () => void fill(tokenPath, input, status));
  }
  return {
    plugin: () => withoutDialogs,
    authorize: (/** @type {SwaggerRequest} */ request) => authorize(request, input),
  };
}

/** The package's own dialogs know only the flows that OpenAPI has a name for. */
const withoutDialogs = { wrapComponents: { authorizeBtn: () => nothing, authorizeOperationBtn: () => nothing } };

function nothing() {
  return null;
}

/** Adds the token to what is tried out. @param {SwaggerRequest} request @param {HTMLInputElement} input */
function authorize(request, input) {
  const token = input.value.trim();
  if (token !== "" && !request.loadSpec) request.headers["Authorization"] = `Bearer ${token}`;
  return request;
}

/** @param {string} tokenPath @param {HTMLInputElement} input @param {HTMLOutputElement} status */
async function fill(tokenPath, input, status) {
  const response = await fetch(tokenPath, { method: "POST" });
  const { access_token: token = "", expires_in: seconds = 0 } = response.ok ? await response.json() : {};
  input.value = token;
  const until = new Date(Date.now() + seconds * 1_000).toLocaleTimeString();
  status.value = response.ok ? `Valid until ${until}` : `No token: the service answered ${response.status}`;
}

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`the page has no ${id}`);
  return found;
}
