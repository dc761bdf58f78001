import type { HubGroup } from './hub-group.ts';
import { newHubId } from './hub-id.ts';

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
