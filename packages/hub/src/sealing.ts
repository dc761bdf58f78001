import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A key for one purpose, from a longer-lived secret.
 *
 * @param salt what the key is for in particular, such as a row's id; may be empty.
 */
export function deriveKey(secret: string | Buffer, salt: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, KEY_BYTES));
}

/**
 * Seals a text for rest: AES-256-GCM, bound to the row it belongs to, so that a sealed text moved
 * to another row opens nothing.
 *
 * @returns base64 of nonce, tag and cipher text.
 */
export function sealText(text: string, key: Buffer, rowId: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(Buffer.from(rowId));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** @throws when the key or the row is not the one it was sealed for, or the text was altered. */
export function openText(sealed: string, key: Buffer, rowId: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(rowId));
  cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([cipher.update(text), cipher.final()]).toString('utf8');
}
