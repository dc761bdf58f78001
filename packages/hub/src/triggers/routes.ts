import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, readPage } from '../http/paging.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentFiring, presentTrigger } from './present.ts';
import { requireTrigger } from './read.ts';
import {
  changeTrigger,
  createTrigger,
  deleteTrigger,
  disableTrigger,
  enableTrigger,
} from './save.ts';
import { listTriggers } from './store.ts';
import { eventOfFiring, listLatestFirings } from './store-firings.ts';

export function bindTriggerRoutes(api: Api, deps: Pick<HubDeps, 'database' | 'ids'>): void {
  const { triggers } = endpoints;
  const { reader } = deps.database;
  api.bind(triggers.list, async (input) => {
    const before = decodeCursor(input.cursor, 'trigger');
    const page = await readPage(
      { limit: input.limit, before },
      (piece) => listTriggers(reader, input, piece),
      (row) => row.trigger_id,
    );
    return { triggers: page.items.map(presentTrigger), nextCursor: page.nextCursor };
  });
  api.bind(triggers.get, async ({ workspaceId, triggerId }) => ({
    trigger: presentTrigger(await requireTrigger(reader, workspaceId, triggerId)),
  }));
  api.bind(triggers.listFirings, async ({ workspaceId, triggerId }) => {
    await requireTrigger(reader, workspaceId, triggerId);
    const rows = await listLatestFirings(reader, workspaceId, triggerId);
    return {
      firings: rows.map((row) => ({ firing: presentFiring(row), eventId: eventOfFiring(row) })),
    };
  });
  bindSettingsRoutes(api, deps);
}

function bindSettingsRoutes(api: Api, deps: Pick<HubDeps, 'database' | 'ids'>): void {
  const { triggerSettings } = consoleEndpoints;
  api.bind(triggerSettings.create, async (input, { principal }) => ({
    trigger: presentTrigger(await createTrigger(deps, principal, input)),
  }));
  api.bind(triggerSettings.update, async (input, { principal }) => ({
    trigger: presentTrigger(await changeTrigger(deps, principal, input)),
  }));
  api.bind(triggerSettings.enable, async (input, { principal }) => ({
    trigger: presentTrigger(await enableTrigger(deps, principal, input)),
  }));
  api.bind(triggerSettings.disable, async (input, { principal }) => ({
    trigger: presentTrigger(await disableTrigger(deps, principal, input)),
  }));
  api.bind(triggerSettings.delete, async (input, { principal }) => {
    await deleteTrigger(deps, principal, input);
    return { deleted: true as const };
  });
}
