import { deriveKey, openText, sealText } from '../base/sealing.ts';

const PURPOSE = 'signalbox device token';

/**
 * Seals a token with the device secret. The hub stores only the hash of that secret, so it cannot
 * read the stored token without the machine's help.
 */
export function sealToken(token: string, deviceId: string, deviceSecret: string): string {
  return sealText(token, deriveKey(deviceSecret, deviceId, PURPOSE), deviceId);
}

/** @throws if the secret is not the one that it was sealed with, or the text was altered. */
export function openToken(sealed: string, deviceId: string, deviceSecret: string): string {
  return openText(sealed, deriveKey(deviceSecret, deviceId, PURPOSE), deviceId);
}
