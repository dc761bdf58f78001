import { deriveKey, openText, sealText } from '../sealing.ts';

const PURPOSE = 'signalbox device token';

/**
 * Seals a token so that only whoever holds the device secret can read it: the hub keeps that
 * secret's hash alone, so the token is never readable at rest.
 */
export function sealToken(token: string, deviceId: string, deviceSecret: string): string {
  return sealText(token, deriveKey(deviceSecret, deviceId, PURPOSE), deviceId);
}

/** @throws when the secret is not the one it was sealed under, or the text was altered. */
export function openToken(sealed: string, deviceId: string, deviceSecret: string): string {
  return openText(sealed, deriveKey(deviceSecret, deviceId, PURPOSE), deviceId);
}
