import type { Invitation, Member } from '@signalbox/contract';
import { ApiError } from '@signalbox/sdk';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { collectPages } from '../terminal/pages.ts';
import { oneLine } from '../terminal/text.ts';

/** Reads all members of the workspace. */
export async function readMembers({ client, workspaceId }: HubSession): Promise<Member[]> {
  const { rows } = await collectPages(Infinity, 'members', (page) =>
    client.members.list({ workspaceId, ...page }),
  );
  return rows;
}

/** Reads the open invitations. Null: only owners and admins see them. */
export async function readInvitations({
  client,
  workspaceId,
}: HubSession): Promise<Invitation[] | null> {
  try {
    const { rows } = await collectPages(Infinity, 'invitations', (page) =>
      client.invitations.list({ workspaceId, ...page }),
    );
    return rows;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_ALLOWED') return null;
    throw error;
  }
}

/** Finds whom a text names: by e-mail address, ID or whole name. Null: there is no such person. */
export function findMember(members: readonly Member[], text: string): Member | null {
  const wanted = text.toLowerCase();
  const found = members.filter(({ email, name, personId }) =>
    [email, name, personId].some((known) => known.toLowerCase() === wanted),
  );
  const [first, ...others] = found;
  if (others.length === 0) return first ?? null;
  const addresses = found.map(({ email }) => email).join(', ');
  const message = `Several members are called ${oneLine(text)}: ${addresses}.`;
  throw new CliError(exitCodes.usage, 'MEMBER_AMBIGUOUS', message, {
    fix: 'Give the e-mail address.',
  });
}

/** @throws {CliError} MEMBER_NOT_FOUND, MEMBER_AMBIGUOUS. */
export function requireMember(members: readonly Member[], text: string): Member {
  const member = findMember(members, text);
  if (member !== null) return member;
  const message = `No member of this workspace is called ${oneLine(text).slice(0, 80)}.`;
  throw new CliError(exitCodes.refused, 'MEMBER_NOT_FOUND', message, {
    fix: 'List them: signalbox members',
  });
}
