import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ResourceHead } from "../../postgres/tables/resources/resources.js";

/** Converts the creation and update times of a resource to protobuf timestamps. */
export function timesOf({ createdAt, updatedAt }: Pick<ResourceHead, "createdAt" | "updatedAt">): {
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
} {
  return { createdAt: timestampFromDate(createdAt), updatedAt: timestampFromDate(updatedAt) };
}
