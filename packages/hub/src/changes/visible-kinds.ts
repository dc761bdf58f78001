import type { ChangeKind } from '@signalbox/contract';
import { mayAct } from '../access/policy.ts';
import type { Role } from '../db/schema/tables.ts';

/** Kinds of records that every caller with the scope `read` may read. */
const forReaders: readonly ChangeKind[] = [
  ...([
    'job',
    'jobEvents',
    'reviewComment',
    'uncertainty',
    'run',
    'agent',
    'repository',
    'queue',
  ] as const),
  ...(['cloudAiJob', 'contextItem', 'contextPack', 'upload', 'trigger'] as const),
  ...(['integrationEvent', 'workspace'] as const),
];
/** Tokens of the caller may have changed, so every person is told, without an id. */
const forPeople: readonly ChangeKind[] = ['member', 'token'];

/** The kinds of changes that a caller is told. @param role null: the caller is not a person. */
export function visibleKinds(role: Role | null): ReadonlySet<ChangeKind> {
  if (role === null) return new Set(forReaders);
  const kinds = new Set([...forReaders, ...forPeople]);
  if (mayAct(role, 'invitation.manage')) kinds.add('invitation');
  if (mayAct(role, 'audit.read')) kinds.add('auditEntry');
  if (mayAct(role, 'mail-account.manage')) kinds.add('mailAccount');
  if (mayAct(role, 'chat-team.manage')) kinds.add('chatTeam');
  if (mayAct(role, 'integration-secret.manage')) kinds.add('integrationSecret');
  return kinds;
}
