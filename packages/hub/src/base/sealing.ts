import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Derives a key for one purpose from a longer-lived secret.
 *
 * @param salt makes the key specific, for example to a row's id; may be empty.
 */
export function deriveKey(secret: string | Buffer, salt: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, KEY_BYTES));
}

const keysBySecret = new WeakMap<Buffer, Map<string, Buffer>>();

/**
 * Derives the hub's key for one purpose, once. The hub's key itself signs and encrypts nothing, so
 * that no purpose can be turned against another.
 */
export function hubKeyFor(secretKey: Buffer, purpose: string): Buffer {
  const keys = keysBySecret.get(secretKey) ?? new Map<string, Buffer>();
  keysBySecret.set(secretKey, keys);
  const key = keys.get(purpose) ?? deriveKey(secretKey, '', purpose);
  keys.set(purpose, key);
  return key;
}

/**
 * Encrypts a text for storage with AES-256-GCM, bound to its row: copied to another row, it cannot
 * be opened.
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

/**
 * Decrypts a text that `sealText` encrypted.
 * @throws if the key or the row differs, or the text was altered.
 */
export function openText(sealed: string, key: Buffer, rowId: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(rowId));
  cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([cipher.update(text), cipher.final()]).toString('utf8');
}
