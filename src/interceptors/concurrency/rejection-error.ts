import { busy, CupoError, type LimitName } from "../../errors.js";
import type { PermitRejection } from "../concurrency-limit.js";

/** The limit that was reached, and the message for the caller. */
type RejectionText = readonly [limit: LimitName, message: string];

const busyService: RejectionText = ["load", "The service has more requests than it can process now."];

/**
 * The limit and the message of each rejection. A principal above its own limit gets 429 (specification section 8). At
 * any other limit, the error is a 503 with the reason BUSY.
 */
const rejectionTexts: Readonly<Record<"calls" | "streams", Readonly<Record<PermitRejection, RejectionText>>>> = {
  calls: {
    PRINCIPAL: ["calls", "This client has reached its limit of concurrent calls."],
    TENANT: ["tenant_calls", "The tenant of this client has reached its limit of concurrent calls of this kind."],
    HEAVY: ["heavy_calls", "The service has reached its limit of concurrent heavy calls."],
    PROCESS: busyService,
  },
  streams: {
    PRINCIPAL: ["streams", "This client has reached its limit of open streams."],
    TENANT: ["tenant_streams", "The tenant of this client has reached its limit of open streams."],
    HEAVY: busyService,
    PROCESS: busyService,
  },
};

/** Returns the error of a call or a stream that the limit `rejection` rejects. */
export function rejectionError(
  rejection: PermitRejection,
  what: "calls" | "streams",
  retryAfterSeconds: number,
): CupoError {
  const [limit, detail] = rejectionTexts[what][rejection];
  if (rejection !== "PRINCIPAL") return busy(detail, retryAfterSeconds, { limit });
  return new CupoError("RATE_LIMIT_EXCEEDED", { detail, headers: { "Retry-After": String(retryAfterSeconds) }, limit });
}
