import type { DescService, MessageInitShape, MessageValidType } from "@bufbuild/protobuf";
import type { ReadyCall } from "./call.js";

/**
 * What does the work of a proto service: for each of its methods a function that gets a request which keeps the rules of
 * the proto, so that what they require is there, and a call that passed every stage. A method that is left out answers
 * `unimplemented`, and 404 over REST.
 */
export type Implementation<Service extends DescService> = {
  readonly [Method in keyof Service["method"]]?: (
    request: MessageValidType<Service["method"][Method]["input"]>,
    call: ReadyCall,
  ) => Promise<MessageInitShape<Service["method"][Method]["output"]>>;
};
