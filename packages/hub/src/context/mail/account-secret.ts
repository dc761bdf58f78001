import { deriveKey, openText, sealText } from '../../sealing.ts';

const PURPOSE = 'signalbox mail account';

export interface MailSecretPlace {
  workspaceId: string;
  accountId: string;
}

/** Seals a password or token under the hub's key, for this workspace and this row alone. */
export function sealMailSecret(secret: string, key: Buffer, place: MailSecretPlace): string {
  return sealText(secret, deriveKey(key, place.workspaceId, PURPOSE), place.accountId);
}

/** @throws when the hub's key is another one than it was sealed with, or the row was altered. */
export function openMailSecret(sealed: string, key: Buffer, place: MailSecretPlace): string {
  return openText(sealed, deriveKey(key, place.workspaceId, PURPOSE), place.accountId);
}
