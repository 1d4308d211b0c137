import { MuseumService } from "../gen/museum/v1/museum_pb.js";
import { makeRoute } from "./make-route.js";

const { method } = MuseumService;

/** A binding of each kind. */
export const museumRoutes = [
  makeRoute(method.getExhibit, "GET /v1/{name=rooms/*/exhibits/*}"),
  makeRoute(method.getExhibit, "GET /v1/exhibits/{name}"),
  makeRoute(method.listExhibits, "GET /v1/rooms/{room}/exhibits"),
  makeRoute(method.createExhibit, "POST /v1/rooms/{room}/exhibits", { body: "exhibit" }),
  makeRoute(method.updateExhibit, "PATCH /v1/halls/{room}/exhibits/{id}", { body: "*" }),
  makeRoute(method.renameExhibit, "PATCH /v1/{exhibit.name=rooms/*/exhibits/*}:rename", { body: "exhibit" }),
  makeRoute(method.renameExhibit, "POST /v1/{exhibit.name=rooms/*/exhibits/*}:label", { body: "*" }),
  makeRoute(method.deleteExhibit, "DELETE /v1/{name=rooms/*/exhibits/*}"),
  makeRoute(method.downloadFile, "GET /v1/files/{path=**}"),
  makeRoute(method.uploadFile, "PUT /v1/files/{path}", { body: "file" }),
  makeRoute(method.echoKinds, "POST /v1/kinds", { body: "*" }),
  makeRoute(method.watchExhibits, "GET /v1/rooms/{room}/exhibits:watch"),
] as const;
