import { randomBytes } from 'node:crypto';
import type { HubGroup } from './hub-group.ts';

/** On SQLite: a hub by itself. */
export function createLoneHub(directoryId: string): HubGroup {
  return {
    hubId: newHubId(),
    directoryId,
    hints: null,
    others: 0,
    isLead: () => true,
    isListening: () => true,
    start: async () => {},
    stop: async () => {},
  };
}

export function newHubId(): string {
  return `hub_${randomBytes(12).toString('hex')}`;
}
