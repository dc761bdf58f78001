import { randomBytes } from 'node:crypto';

/** Names a process, not an installation: each start has a new one. */
export function newHubId(): string {
  return `hub_${randomBytes(12).toString('hex')}`;
}
