import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import type { RestService } from "./rest-service.js";

/**
 * Returns the services and single methods that a function registers on a router. The function receives a router that
 * keeps the implementations, because Connect's own router does not. Interceptors of a registration run last. Other
 * options of a registration, such as `readMaxBytes`, are ignored.
 */
export function servicesOfRouter(register: ((router: ConnectRouter) => void) | undefined): readonly RestService[] {
  const services: RestService[] = [];
  const router: ConnectRouter = {
    handlers: [],
    service(service: DescService, implementation: object, options) {
      services.push({ service, implementation, interceptors: options?.interceptors ?? [] });
      return router;
    },
    rpc(method: DescMethod, implementation: unknown, options) {
      const interceptors = options?.interceptors ?? [];
      services.push({ service: method.parent, implementation: { [method.localName]: implementation }, interceptors });
      return router;
    },
  };
  register?.(router);
  return services;
}
