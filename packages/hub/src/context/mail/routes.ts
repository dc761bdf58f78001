import { consoleEndpoints } from '@signalbox/contract';
import { requireAct } from '../../access/require-act.ts';
import type { Principal } from '../../base/principal.ts';
import type { Api } from '../../http/bind.ts';
import type { ContextDeps } from '../deps.ts';
import { deleteMailAccount, listMailAccounts, putMailAccount } from './accounts.ts';

/** Binds the console's endpoints with which owners and admins manage mail accounts. */
export function bindMailAccountRoutes(
  api: Api,
  deps: Pick<ContextDeps, 'database' | 'secretKey'>,
): void {
  const { mailAccounts } = consoleEndpoints;
  const admit = (principal: Principal, workspaceId: string) =>
    requireAct(deps.database.reader, principal, workspaceId, 'mail-account.manage');
  api.bind(mailAccounts.list, async ({ workspaceId }, { principal }) => {
    await admit(principal, workspaceId);
    return { accounts: await listMailAccounts(deps, workspaceId) };
  });
  api.bind(mailAccounts.put, async (input, { principal }) => {
    const { personId } = await admit(principal, input.workspaceId);
    return { account: await putMailAccount(deps, personId, input) };
  });
  api.bind(mailAccounts.remove, async (input, { principal }) => {
    const { personId } = await admit(principal, input.workspaceId);
    await deleteMailAccount(deps, personId, input);
    return { removed: true as const };
  });
}
