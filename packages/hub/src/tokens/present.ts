import type { AnswerOf, DeviceToken, endpoints, Scope, ServiceToken } from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { TokenWithNames } from './list.ts';

export function presentPrincipal(
  principal: Principal,
  workspaceSlug: string | null,
): AnswerOf<typeof endpoints.tokens.whoami> {
  const { kind } = principal;
  assert(
    kind !== 'person' && kind !== 'message' && kind !== 'anonymous' && kind !== 'assistant',
    'whoami requires a bearer token of the control plane',
  );
  return {
    kind,
    principalId: principal.principalId,
    displayName: principal.displayName,
    workspaceId: principal.workspaceId,
    workspaceSlug,
    scopes: [...principal.scopes],
    expiresAt: nullableTimestampOf(principal.expiresAtMs),
  };
}

export function presentServiceToken(row: TokenWithNames): ServiceToken {
  return {
    tokenId: row.token_id,
    name: row.name,
    // insertToken writes only known scopes.
    scopes: JSON.parse(row.scopes) as Scope[],
    createdBy: row.creator_name ?? row.created_by,
    ...timesOf(row),
  };
}

export function presentDeviceToken(row: TokenWithNames): DeviceToken {
  const { kind, person_id: personId, person_name: personName } = row;
  assert(kind !== 'service' && personId !== null && personName !== null, 'it is of a person');
  const person = { personId, personName };
  return { tokenId: row.token_id, kind, ...person, machineName: row.name, ...timesOf(row) };
}

function timesOf(row: TokenWithNames) {
  return {
    createdAt: timestampOf(row.created_at),
    lastUsedAt: nullableTimestampOf(row.last_used_at),
    // That of the last text of an assistant's token is soon.
    expiresAt: timestampOf(row.renewable_until ?? row.expires_at),
  };
}
