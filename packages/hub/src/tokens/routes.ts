import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { administer } from './administer.ts';
import { listDeviceTokens, listServiceTokens } from './list.ts';
import { mintTokenByPerson } from './mint.ts';
import { presentDeviceToken, presentPrincipal, presentServiceToken } from './present.ts';
import { revokeDeviceToken, revokeOwnToken, revokeServiceToken, type TokenDeps } from './revoke.ts';

export function bindTokenRoutes(api: Api, deps: TokenDeps): void {
  api.bind(endpoints.tokens.revoke, async (_input, { principal }) => {
    await revokeOwnToken(deps, principal);
    return { revoked: true as const };
  });
  api.bind(endpoints.tokens.whoami, async (_input, { principal }) => {
    const { workspaceId } = principal;
    const workspace =
      workspaceId === null ? undefined : await readWorkspace(deps.database.reader, workspaceId);
    return presentPrincipal(principal, workspace?.slug ?? null);
  });
  bindServiceTokens(api, deps, consoleEndpoints.serviceTokens);
  bindServiceTokens(api, deps, endpoints.serviceTokens);
  bindDeviceTokens(api, deps, consoleEndpoints.deviceTokens);
  bindDeviceTokens(api, deps, endpoints.deviceTokens);
}

/** @param serviceTokens the rows of the console, or those of people's machines. */
function bindServiceTokens(
  api: Api,
  deps: TokenDeps,
  serviceTokens: typeof consoleEndpoints.serviceTokens | typeof endpoints.serviceTokens,
): void {
  api.bind(serviceTokens.list, async (input, { principal }) => {
    const before = decodeCursor(input.cursor, 'token');
    const rows = await listServiceTokens(deps, principal, input, before);
    const page = pageOf(rows, input.limit, (row) => row.token_id);
    return { tokens: page.items.map(presentServiceToken), nextCursor: page.nextCursor };
  });
  api.bind(serviceTokens.mint, async (input, { principal }) => {
    const mint = () => mintTokenByPerson(deps, principal, input);
    const { token, row } = await administer(principal, mint);
    return { token, serviceToken: presentServiceToken(row) };
  });
  api.bind(serviceTokens.revoke, async (input, { principal }) => {
    await administer(principal, () => revokeServiceToken(deps, principal, input));
    return { revoked: true as const };
  });
}

/** @param deviceTokens the rows of the console, or those of people's machines. */
function bindDeviceTokens(
  api: Api,
  deps: TokenDeps,
  deviceTokens: typeof consoleEndpoints.deviceTokens | typeof endpoints.deviceTokens,
): void {
  api.bind(deviceTokens.list, async (input, { principal }) => {
    const before = decodeCursor(input.cursor, 'token');
    const rows = await listDeviceTokens(deps, principal, input, before);
    const page = pageOf(rows, input.limit, (row) => row.token_id);
    return { tokens: page.items.map(presentDeviceToken), nextCursor: page.nextCursor };
  });
  api.bind(deviceTokens.revoke, async (input, { principal }) => {
    await administer(principal, () => revokeDeviceToken(deps, principal, input));
    return { revoked: true as const };
  });
}
