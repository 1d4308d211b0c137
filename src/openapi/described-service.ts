import type { DescService } from "@bufbuild/protobuf";
import type { RestService } from "../rest/routes/routes.js";

/** A service that is only described, with all of its methods: routes are described for those that are there. */
export function describedService({ service }: { readonly service: DescService }): RestService {
  return { service, implementation: Object.fromEntries(service.methods.map(({ localName }) => [localName, never])) };
}

function never(): never {
  throw new Error("a service that is only described cannot be called");
}
