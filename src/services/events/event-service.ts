import type { EventService } from "../../gen/cupo/clinic/v1/event_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { listEvents } from "./list-events.js";
import { type WatchPorts, watchEvents } from "./watch-events.js";

/** Creates the service of the change feed. `listEvents` and `watchEvents` return the same events in the same order. */
export function createEventService(ports: WatchPorts): Implementation<typeof EventService> {
  return {
    async listEvents(request, call) {
      return listEvents(request, call);
    },
    watchEvents(request, call) {
      const filter = { principal: call.principal, resourceTypes: request.resourceTypes };
      return watchEvents(request, filter, ports, call.signal);
    },
  };
}
