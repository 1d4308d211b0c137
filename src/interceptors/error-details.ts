import { create } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import { type CupoError, errorTable, reasonOf } from "../errors.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";

/** A message that goes with an error of Connect, gRPC and gRPC-Web. */
type Detail = ConstructorParameters<typeof ConnectError>[3];

const DOMAIN = "cupo";
/** gRPC sends details in trailers, for which some clients take 8 KiB at most. */
const MAX_FIELD_VIOLATIONS = 20;

/**
 * What clients of gRPC read without knowing Cupo (AIP-193): ErrorInfo, whose reason is that of {@link reasonOf} in the domain
 * `cupo`; BadRequest with the first twenty fields that are wrong, of an error that is the request's; RetryInfo where
 * another try makes sense and when. The Problem beside them has everything; none of them holds what was sent.
 */
export function errorDetailsOf(error: CupoError): NonNullable<Detail> {
  return [errorInfo(error), ...badRequest(error), ...retryInfo(error)];
}

function errorInfo(error: CupoError) {
  const [conflict] = error.code === "CONCURRENT_MODIFICATION" ? error.errors : [];
  const metadata = {
    code: error.code,
    status: String(errorTable[error.code].status),
    ...(conflict === undefined ? {} : { field: conflict.field }),
  };
  return {
    desc: ErrorInfoSchema,
    value: create(ErrorInfoSchema, { reason: reasonOf(error), domain: DOMAIN, metadata }),
  };
}

function badRequest({ code, errors }: CupoError) {
  if (errors.length === 0 || code === "CONCURRENT_MODIFICATION") return [];
  const fieldViolations = errors
    .slice(0, MAX_FIELD_VIOLATIONS)
    .map(({ field, code: reason, message }) => ({ field, reason, description: message }));
  return [{ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) }];
}

function retryInfo({ headers }: CupoError) {
  const seconds = headers["Retry-After"];
  if (seconds === undefined) return [];
  const retryDelay = create(DurationSchema, { seconds: BigInt(seconds) });
  return [{ desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) }];
}
