import { configureTextEncoding, getTextEncoding } from "@bufbuild/protobuf/wire";

/**
 * Makes protobuf encode texts with Buffer instead of TextEncoder, for the whole process. The bytes are the same. For
 * texts of the usual length it takes half the time. Calling it again changes nothing.
 */
export function encodeTextsByBuffer(): void {
  configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text) });
}
