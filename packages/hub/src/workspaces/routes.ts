import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import type { Gatekeeper } from '../http/gatekeeper.ts';
import { createOwnWorkspace } from './create.ts';
import { presentCloudAiSettings, presentMembership, presentWorkspace } from './present.ts';
import { readSettings, type Settings, updateSettings } from './settings.ts';
import { readWorkspaceBySlug } from './store.ts';

type CreationDeps = Parameters<typeof createOwnWorkspace>[0];

interface SettingsDeps extends CreationDeps {
  /** The position of now in the changes of a workspace. */
  changePosition: (workspaceId: string) => string;
}

export function bindWorkspaceRoutes(
  api: Api,
  deps: SettingsDeps & { gatekeeper: Pick<Gatekeeper, 'enterWorkspace'> },
): void {
  const { database, gatekeeper } = deps;
  api.bind(endpoints.workspaces.resolve, async ({ slug }, { principal }) => {
    const row = await readWorkspaceBySlug(database.reader, slug);
    // The same answer for unknown and inaccessible slugs, so that callers cannot probe for slugs.
    if (
      row === undefined ||
      (await gatekeeper.enterWorkspace(principal, row.workspace_id)) === null
    ) {
      return { workspaceId: null, workspace: null };
    }
    return { workspaceId: row.workspace_id, workspace: presentWorkspace(row) };
  });
  bindSettingsRoutes(api, deps);
}

function bindSettingsRoutes(api: Api, deps: SettingsDeps): void {
  const { workspaceSettings } = consoleEndpoints;
  api.bind(workspaceSettings.create, async (input, { principal }) => {
    const row = await createOwnWorkspace(deps, principal, input);
    const position = deps.changePosition(row.workspace_id);
    return { workspace: presentMembership(row, 'owner', position) };
  });
  api.bind(workspaceSettings.get, async ({ workspaceId }, { principal }) => {
    const { role, ...settings } = await readSettings(deps, principal, workspaceId);
    return { ...presentSettings(settings), role };
  });
  api.bind(workspaceSettings.update, async (input, { principal }) =>
    presentSettings(await updateSettings(deps, principal, input)),
  );
}

function presentSettings({ row, cloudAi }: Settings) {
  return {
    workspace: presentWorkspace(row),
    cloudAi: presentCloudAiSettings(cloudAi),
    attention: { askOwnersAfterMinutes: row.ask_owners_after_minutes },
  };
}
