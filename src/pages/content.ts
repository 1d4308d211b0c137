import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A content coding (RFC 9110, section 8.4.1). */
export type Coding = "br" | "gzip";

/** The content of a page. It is kept in memory and shared by all answers. */
export interface PageContent {
  /** A strong entity tag of the uncompressed content. */
  readonly etag: string;
  /** The uncompressed content. */
  readonly plain: Buffer;
  /**
   * Returns the compressed content. Compresses at the first call for a coding and caches the result. After a failure,
   * the next call compresses again.
   */
  coded(coding: Coding): Promise<Buffer>;
}

/** Higher qualities take about ten times as long as quality 5, and make the content only a few percent smaller. */
const BROTLI_QUALITY = 5;

const compress: Readonly<Record<Coding, (plain: Buffer) => Promise<Buffer>>> = {
  br: (plain) => promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (plain) => promisify(gzip)(plain),
};

/** Creates the content of a page from text or bytes. */
export function contentOf(body: string | Buffer): PageContent {
  const plain = Buffer.from(body);
  const kept = new Map<Coding, Promise<Buffer>>();
  return {
    etag: `"${createHash("sha256").update(plain).digest("base64url")}"`,
    plain,
    coded(coding) {
      const known = kept.get(coding);
      if (known !== undefined) return known;
      const coded = compress[coding](plain);
      kept.set(coding, coded);
      coded.catch(() => kept.delete(coding));
      return coded;
    },
  };
}
