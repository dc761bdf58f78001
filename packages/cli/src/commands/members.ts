import type { Invitation, Member } from '@signalbox/contract';
import { readInvitations, readMembers } from '../find/member-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { formatAge } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox members`: lists the members of the workspace, and for owners and admins the open
 * invitations. With `--json`: `{ok, members, invitations}`; invitations is null for others.
 */
export const command = defineHubCommand({
  async run({ io, session }) {
    const members = await readMembers(session);
    const invitations = await readInvitations(session);
    if (io.json) return io.printJson({ ok: true, members, invitations });
    const nowMs = Date.now();
    const rows = [
      ...members.map((member) => rowOf(member, nowMs)),
      ...(invitations ?? []).map((invitation) => invitedRowOf(invitation, nowMs)),
    ];
    printRows(io, rows);
  },
});

interface Row {
  role: string;
  email: string;
  name: string;
  since: string;
}

function rowOf({ role, email, name, joinedAt }: Member, nowMs: number): Row {
  return { role, email, name, since: formatAge(joinedAt, nowMs) };
}

function invitedRowOf({ role, email, createdAt }: Invitation, nowMs: number): Row {
  return { role, email, name: 'invited', since: formatAge(createdAt, nowMs) };
}

function printRows(io: Io, rows: readonly Row[]): void {
  const { styles } = io;
  printTable(
    io,
    [
      { title: 'ROLE', text: ({ role }) => role },
      { title: 'E-MAIL', text: ({ email }) => oneLine(email), style: styles.bold },
      { title: 'NAME', text: ({ name }) => oneLine(name), isFlexible: true },
      { title: 'SINCE', text: ({ since }) => since, style: styles.dim, isOptional: true },
    ],
    rows,
  );
}
