export { type FetchHandler, type FetchHandlerOptions, fetchHandler } from "./fetch/fetch-handler.js";
