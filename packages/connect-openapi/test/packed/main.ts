/**
 * Describes a service by the routes that connect-rest serves and prints the document. The test of the packed packages
 * runs this where only the tarballs are installed.
 */
import { openApiDocument, problemErrors } from "@cupo/connect-openapi";
import { restRoutes } from "@cupo/connect-rest";
import { MuseumService } from "../gen/museum/v1/museum_pb.js";

const document = openApiDocument({
  routes: restRoutes("/api/v1", [MuseumService]),
  basePath: "/api/v1",
  info: { title: "Museum", version: "1.0.0", license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
  errors: problemErrors(),
});
console.log(JSON.stringify(document, undefined, 2));
