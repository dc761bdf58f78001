import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = 'signalbox device token';

/**
 * Seals a token so that only whoever holds the device secret can read it: the hub keeps that
 * secret's hash alone, so the token is never readable at rest. Bound to the device session, so
 * that a sealed token moved to another row opens nothing.
 */
export function sealToken(token: string, deviceId: string, deviceSecret: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveKey(deviceId, deviceSecret), nonce);
  cipher.setAAD(Buffer.from(deviceId));
  const text = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
}

/** @throws when the secret is not the one it was sealed under, or the text was altered. */
export function openToken(sealed: string, deviceId: string, deviceSecret: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const key = deriveKey(deviceId, deviceSecret);
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(deviceId));
  cipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([cipher.update(text), cipher.final()]).toString('utf8');
}

function deriveKey(deviceId: string, deviceSecret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', deviceSecret, deviceId, PURPOSE, KEY_BYTES));
}
