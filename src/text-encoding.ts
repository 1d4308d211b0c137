import { configureTextEncoding, getTextEncoding } from "@bufbuild/protobuf/wire";

/**
 * Makes protobuf encode texts with Buffer instead of TextEncoder, for the whole process. The bytes are the same. Buffer
 * takes half the time for texts of the usual length. A second call changes nothing.
 */
export function encodeTextsByBuffer(): void {
  configureTextEncoding({ ...getTextEncoding(), encodeUtf8: (text) => Buffer.from(text) });
}
