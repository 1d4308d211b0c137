export { cutResponse } from "./node/cut-response.js";
export { goneSignal } from "./node/gone-signal.js";
export { type NodeListener, type NodeListenerOptions, nodeListener } from "./node/node-listener.js";
export type { NodeResponse } from "./node/node-response.js";
export { isAbandoned, type NodeRequest, readBody } from "./node/read-body.js";
export { abandonBody, leavesBodyUnread, sendResponse } from "./node/send-response.js";
export { plainHeaders, readHeaders } from "./raw-headers.js";
