import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  createMethodImplSpec,
  type Interceptor,
  type MethodImpl,
  type MethodImplSpec,
  type ServiceImpl,
} from "@connectrpc/connect";

/** A service and the object that implements all or some of its methods. */
export interface RestService {
  readonly service: DescService;
  readonly implementation: object;
  /** Interceptors of this service alone. They run after those of the handler. Defaults to none. */
  readonly interceptors?: readonly Interceptor[];
}

/** A method with its implementation. */
export interface ImplementedMethod {
  readonly spec: MethodImplSpec;
  readonly interceptors: readonly Interceptor[];
}

/**
 * Pairs a service with its implementation. The compiler rejects a misspelt method. A method without an implementation
 * has no route.
 */
export function restService<S extends DescService>(
  service: S,
  implementation: Partial<ServiceImpl<S>>,
  interceptors: readonly Interceptor[] = [],
): RestService {
  return { service, implementation, interceptors };
}

/** Returns the implemented methods of services. Throws if a method is implemented twice. */
export function implementedMethods(services: readonly RestService[]): ReadonlyMap<DescMethod, ImplementedMethod> {
  const methods = new Map<DescMethod, ImplementedMethod>();
  for (const { service, implementation, interceptors = [] } of services) {
    for (const method of service.methods) {
      const run: unknown = Reflect.get(implementation, method.localName);
      if (typeof run !== "function") continue;
      if (methods.has(method)) throw new Error(`${service.typeName}/${method.name} is implemented twice`);
      methods.set(method, {
        spec: createMethodImplSpec(method, run.bind(implementation) as MethodImpl<DescMethod>),
        interceptors,
      });
    }
  }
  return methods;
}
