import { isUtf8 } from "node:buffer";
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { createFindings, type Findings } from "./findings.js";
import { checkJsonHeaders } from "./media-type.js";
import { type Fields, fieldsOf } from "./message-fields.js";
import { orderViolations } from "./order-violations.js";
import { percentDecode, percentDecodeReserved } from "./percent-decode.js";
import { type NodeRequest, readBody } from "./read-body.js";
import { JsonSyntaxError, type JsonTree, readJson } from "./read-json.js";
import { createFieldReader, createMessageReader, type Excluded } from "./read-message.js";
import { createParameterReader } from "./read-parameter.js";
import { type QueryRules, readQuery } from "./read-query.js";
import { malformed, RestError, type Violation } from "./rest-error.js";
import type { Route } from "./routes.js";
import { fillUpdateMask, updateMaskField } from "./update-mask.js";

export interface BindOptions {
  readonly maxBodyBytes: number;
  /** How deep objects and arrays may nest in a body. */
  readonly maxDepth: number;
  /** Judges a message in which not everything could be read, so that one answer can list everything. */
  validate(schema: DescMessage, message: Message): readonly Violation[];
}

/** What of a request is not in its headers. */
export interface BoundRequest {
  readonly node: NodeRequest;
  /** Of the path, raw, as the route matched them. */
  readonly segments: readonly string[];
  /** Raw, without the question mark. */
  readonly query: string;
}

/** Makes the request message. Rejects with a {@link RestError}, MALFORMED before INVALID. */
export type BindRequest = (request: BoundRequest) => Promise<Message>;
