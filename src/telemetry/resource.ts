import { randomUUID } from "node:crypto";
import { detectResources, envDetector, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import { packageVersion } from "../settings/package-version.js";

const instanceId = randomUUID();

/**
 * Returns the resource of all metrics and traces: service, version, instance, runtime. OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES override its attributes.
 */
export function describeProcess(): Resource {
  return resourceFromAttributes({
    "service.name": "cupo",
    "service.version": packageVersion(),
    "service.instance.id": instanceId,
    "process.runtime.name": "nodejs",
    "process.runtime.version": process.versions.node,
  }).merge(detectResources({ detectors: [envDetector] }));
}
