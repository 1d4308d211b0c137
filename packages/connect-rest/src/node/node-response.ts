import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/** A response of Node's HTTP/1.1 or HTTP/2 server. */
export type NodeResponse = ServerResponse | Http2ServerResponse;
