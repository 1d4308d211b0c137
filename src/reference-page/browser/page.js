import { openAccess } from "./access-token.js";
import { freshHeaders } from "./fresh-headers.js";
import { takePageKey } from "./page-key.js";

const { documentPath, tokenPath } = document.body.dataset;
const access = openAccess(tokenPath, takePageKey());

window.SwaggerUIBundle({
  url: documentPath,
  dom_id: "#reference",
  plugins: [access.plugin, freshHeaders],
  requestInterceptor: access.authorize,
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
