import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import { readPersonNames } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { listTokens, type TokenRow } from './store.ts';

type ServiceListInput = RequestInput<typeof consoleEndpoints.serviceTokens.list.request>;
type DeviceListInput = RequestInput<typeof consoleEndpoints.deviceTokens.list.request>;

/** A token with the names of its person and of its creator; null for those who are not people. */
export type TokenWithNames = TokenRow & { person_name: string | null; creator_name: string | null };

/**
 * The service tokens of a workspace, newest first; one more than `limit`.
 * @throws HubError NOT_ALLOWED
 */
export async function listServiceTokens(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  { workspaceId, limit }: ServiceListInput,
  before: string | null,
): Promise<TokenWithNames[]> {
  await requireAct(reader, principal, workspaceId, 'service-token.manage');
  const filter = { kinds: ['service'] as const, personId: null };
  return addNames(reader, await listTokens(reader, workspaceId, filter, { limit, before }));
}

/**
 * The tokens of the machines and assistants of a person or of the whole workspace, newest first;
 * one more than `limit`.
 * @throws HubError NOT_ALLOWED for the whole workspace.
 */
export async function listDeviceTokens(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  { workspaceId, of, limit }: DeviceListInput,
  before: string | null,
): Promise<TokenWithNames[]> {
  const act = of === 'me' ? 'device-token.manage-own' : 'device-token.manage-all';
  const { personId } = await requireAct(reader, principal, workspaceId, act);
  const filter = {
    kinds: ['device', 'assistant'] as const,
    personId: of === 'me' ? personId : null,
  };
  return addNames(reader, await listTokens(reader, workspaceId, filter, { limit, before }));
}

async function addNames(reader: Reader, tokens: readonly TokenRow[]): Promise<TokenWithNames[]> {
  const people = await readPersonNames(
    reader,
    tokens.flatMap(({ person_id, created_by }) => [person_id ?? created_by, created_by]),
  );
  const nameOf = (personId: string) => people.get(personId)?.name ?? null;
  return tokens.map((token) => ({
    ...token,
    person_name: token.person_id === null ? null : nameOf(token.person_id),
    creator_name: nameOf(token.created_by),
  }));
}
