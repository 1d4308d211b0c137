import { create } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import { type CupoError, errorTable, isExplainedByItem, reasonOf } from "../errors.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.js";
import { MAX_ERRORS_IN_TRAILERS } from "../problems/listed-errors.js";

/** The detail messages of a Connect, gRPC or gRPC-Web error; undefined if there are none. */
type Details = ConstructorParameters<typeof ConnectError>[3];

const DOMAIN = "cupo";
/**
 * Returns the standard details of AIP-193, which gRPC clients can read without the Cupo protos. The error also has the
 * Problem as a detail, which has all data. No detail contains values of the request.
 *
 * - ErrorInfo: the reason from {@link reasonOf}, in the domain `cupo`.
 * - BadRequest: the first {@link MAX_ERRORS_IN_TRAILERS} errors, for any error except a 409 or 503.
 * - RetryInfo: the delay, if the error has `Retry-After`.
 */
export function errorDetailsOf(error: CupoError): NonNullable<Details> {
  return [errorInfo(error), ...badRequest(error), ...retryInfo(error)];
}

function errorInfo(error: CupoError) {
  const [reason] = isExplainedByItem(error.code) ? error.errors : [];
  const metadata = {
    code: error.code,
    status: String(errorTable[error.code].status),
    ...(reason === undefined || reason.field === "" ? {} : { field: reason.field }),
  };
  return {
    desc: ErrorInfoSchema,
    value: create(ErrorInfoSchema, { reason: reasonOf(error), domain: DOMAIN, metadata }),
  };
}

function badRequest({ code, errors }: CupoError) {
  if (errors.length === 0 || isExplainedByItem(code)) return [];
  const fieldViolations = errors
    .slice(0, MAX_ERRORS_IN_TRAILERS)
    .map(({ field, code: reason, message }) => ({ field, reason, description: message }));
  return [{ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) }];
}

function retryInfo({ headers }: CupoError) {
  const seconds = headers["Retry-After"];
  if (seconds === undefined) return [];
  const retryDelay = create(DurationSchema, { seconds: BigInt(seconds) });
  return [{ desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) }];
}
