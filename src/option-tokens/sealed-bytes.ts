import { CompactEncrypt, type CryptoKey, compactDecrypt, errors } from "jose";
import type { KeyRing } from "./key-ring.js";
import { algorithm, headerOf, readKeyId, type TokenForm } from "./token-form.js";

/** Seals bytes as a token: JWE in compact form (RFC 7516), encrypted directly with a key of the ring (`dir`, `A256GCM`). */
export async function sealBytes(keyRing: KeyRing, form: TokenForm, bytes: Uint8Array): Promise<string> {
  const { kid, key } = keyRing.current();
  return new CompactEncrypt(bytes).setProtectedHeader(headerOf(form, kid)).encrypt(key);
}

/**
 * The bytes of a token, or undefined for what is none of this form, was altered, or was sealed with a key that is gone.
 * Rejects only with what the store of the keys rejects with.
 */
export async function openBytes(keyRing: KeyRing, form: TokenForm, token: string): Promise<Uint8Array | undefined> {
  const kid = readKeyId(token, form);
  const key = kid === undefined ? undefined : await keyRing.find(kid);
  return key === undefined ? undefined : decrypt(token, key);
}

async function decrypt(token: string, key: CryptoKey): Promise<Uint8Array | undefined> {
  try {
    const { plaintext } = await compactDecrypt(token, key, {
      keyManagementAlgorithms: [algorithm.alg],
      contentEncryptionAlgorithms: [algorithm.enc],
    });
    return plaintext;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
