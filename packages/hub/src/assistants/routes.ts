import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Api } from '../http/bind.ts';
import { refuseOtherSites } from '../http/same-origin.ts';
import type { AssistantDeps } from './call-tool.ts';

/** Where people's assistants speak the Model Context Protocol with the hub. */
const PATH = '/mcp';

export function bindAssistantRoutes(api: Api, deps: AssistantDeps): void {
  api.bindProtocol(PATH, {
    accept: ({ headers }) => refuseOtherSites(headers, deps.baseUrl),
    async serve(message) {
      requireWorkspaceToken(message.principal);
      // At the first message: loading the protocol would slow the start of every hub.
      const { serveMessage } = await import('./serve.ts');
      return serveMessage(deps, message);
    },
  });
}

/** @throws HubError NOT_ALLOWED */
function requireWorkspaceToken({ kind, workspaceId }: Principal): void {
  if ((kind === 'device' || kind === 'service') && workspaceId !== null) return;
  throw new HubError(
    'NOT_ALLOWED',
    'Assistants need the token of a machine (signalbox login) or a service token.',
  );
}
