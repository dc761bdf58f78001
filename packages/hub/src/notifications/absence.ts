import { listMembershipsOfPerson } from '../access/store.ts';
import { appendAccountAudit } from '../audit/append.ts';
import { nullableTimestampOf, readTimestamp, timestampOf } from '../base/clock.ts';
import { invalidField } from '../base/errors.ts';
import { type Principal, personIdOf } from '../base/principal.ts';
import { type PersonRow, updatePerson } from '../people/store.ts';
import { writeAccount } from '../people/write-account.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { passQuestionsOn } from './turns.ts';

const ABSENCE_MS_MAX = 366 * 24 * 60 * 60_000;

/**
 * Sets until when the person is out of office, in all workspaces; null ends it. The questions that
 * wait with the person go to the next one.
 *
 * @throws HubError INVALID_REQUEST
 */
export async function setAbsence(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  principal: Principal,
  absentUntil: string | null,
): Promise<string | null> {
  const untilMs = absentUntil === null ? null : readTimestamp('/absentUntil', absentUntil);
  const aheadMs = untilMs === null ? 1 : untilMs - clock.nowMs();
  if (aheadMs <= 0 || aheadMs > ABSENCE_MS_MAX) {
    throw invalidField('/absentUntil', 'must be in the future, and within a year');
  }
  const personId = personIdOf(principal);
  await writeAccount(database, personId, async (tx) => {
    await updatePerson(tx, personId, { absent_until: untilMs });
    for (const { workspace_id } of await listMembershipsOfPerson(tx, personId)) {
      await passQuestionsOn(tx, workspace_id, personId);
    }
    await appendAccountAudit(tx, personId, {
      action: 'person.set-absence',
      subject: personId,
      data: { absentUntil: nullableTimestampOf(untilMs) },
    });
  });
  return nullableTimestampOf(untilMs);
}

/** Until when a person is out of office; null: they are not. */
export function absentUntilOf({ absent_until: untilMs }: PersonRow, nowMs: number): string | null {
  return untilMs !== null && untilMs > nowMs ? timestampOf(untilMs) : null;
}
