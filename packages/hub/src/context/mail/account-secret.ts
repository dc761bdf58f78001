import { deriveKey, openText, sealText } from '../../base/sealing.ts';

const PURPOSE = 'signalbox mail account';

export interface MailSecretPlace {
  workspaceId: string;
  accountId: string;
}

/** Encrypts a password or token with the hub's key, bound to this workspace and account. */
export function sealMailSecret(secret: string, key: Buffer, place: MailSecretPlace): string {
  return sealText(secret, deriveKey(key, place.workspaceId, PURPOSE), place.accountId);
}

/** @throws when the hub's key has changed since, or the row was altered. */
export function openMailSecret(sealed: string, key: Buffer, place: MailSecretPlace): string {
  return openText(sealed, deriveKey(key, place.workspaceId, PURPOSE), place.accountId);
}
