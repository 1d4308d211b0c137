import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ResourceHead } from "../../postgres/tables/resources/resources.js";

/** Returns the timestamps of a resource as its message needs them. */
export function timesOf({ createdAt, updatedAt }: Pick<ResourceHead, "createdAt" | "updatedAt">): {
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
} {
  return { createdAt: timestampFromDate(createdAt), updatedAt: timestampFromDate(updatedAt) };
}
