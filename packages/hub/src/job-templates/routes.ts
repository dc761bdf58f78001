import { endpoints } from '@signalbox/contract';
import type { Database } from '../db/engine.ts';
import type { Api } from '../http/bind.ts';
import { presentTemplate } from './present.ts';
import { removeTemplate } from './remove.ts';
import { saveTemplate } from './save.ts';
import { listTemplates } from './store.ts';

export function bindJobTemplateRoutes(api: Api, deps: { database: Database }): void {
  const { jobTemplates } = endpoints;
  const { reader } = deps.database;
  api.bind(jobTemplates.list, async ({ workspaceId }) => ({
    templates: (await listTemplates(reader, workspaceId)).map(presentTemplate),
  }));
  api.bind(jobTemplates.save, async (input, { principal }) => ({
    template: presentTemplate(await saveTemplate(deps, principal, input)),
  }));
  api.bind(jobTemplates.remove, async (input, { principal }) => {
    await removeTemplate(deps, principal, input);
    return {};
  });
}
