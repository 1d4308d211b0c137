export { ServerReflection } from "./gen/grpc/reflection/v1/reflection_pb.js";
export { ServerReflection as ServerReflectionAlpha } from "./gen/grpc/reflection/v1alpha/reflection_pb.js";
export { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "./gen/health/v1/health_pb.js";
export { type IntrospectionOptions, introspection } from "./introspection.js";
