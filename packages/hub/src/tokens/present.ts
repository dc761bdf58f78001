import type { endpoints, ResponseOf } from '@signalbox/contract';
import { nullableTimestampOf } from '../clock.ts';
import { assert } from '../errors.ts';
import type { Principal } from '../principal.ts';

export function presentPrincipal(
  principal: Principal,
  workspaceSlug: string | null,
): Omit<ResponseOf<typeof endpoints.tokens.whoami>, 'ok'> {
  const { kind } = principal;
  assert(kind !== 'person' && kind !== 'anonymous', 'only bearers ask who they are');
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
