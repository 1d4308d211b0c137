import type { DescService } from "@bufbuild/protobuf";
import type { RestService } from "../rest/routes/routes.js";

/**
 * Returns a service for documents only. All of its methods exist, because only implemented methods have routes; calling
 * one throws.
 */
export function describedService({ service }: { readonly service: DescService }): RestService {
  return { service, implementation: Object.fromEntries(service.methods.map(({ localName }) => [localName, never])) };
}

function never(): never {
  throw new Error("this service exists only for documents and cannot be called");
}
