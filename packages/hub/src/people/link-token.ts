import { hash, randomBytes } from 'node:crypto';

/* The secrets of one-time links: for the first owner, for invitations and for lost passwords. */

const LINK_BYTES = 32;

/** Generates the secret of a link. 32 random bytes need neither a salt nor a slow hash. */
export function drawLinkToken(): string {
  return randomBytes(LINK_BYTES).toString('base64url');
}

/** The stored form of a link's secret. */
export function hashLinkToken(linkToken: string): string {
  return hash('sha256', linkToken);
}
