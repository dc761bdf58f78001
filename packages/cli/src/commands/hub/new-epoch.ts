import type { EpochReport } from '@signalbox/hub';
import type { Command } from 'commander';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/text.ts';

/** Live tokens that are listed; `--json` has all. */
const LISTED_MAX = 50;

export function addKeepTokens(program: Command): void {
  program.option(
    '--keep-tokens',
    'keep tokens, sessions and links valid, also those that were revoked after the backup',
  );
}

/** Says what a restore has ended, and how people, machines and programs get in again. */
export function noteEpoch(io: Io, { attempts, agents, workspaces, access }: EpochReport): void {
  io.note(`Ended: ${attempts} running attempts; ${agents} agents register again.`);
  if (access === null) {
    io.note('Kept: tokens, sessions and links, also those that were revoked after the backup.');
  } else {
    noteAccess(io, access);
  }
  if (workspaces.length === 0) return;
  io.note(
    'The queues are paused, because jobs that were done after the backup are pending again. ' +
      'Compare, cancel those, then resume each:',
  );
  for (const slug of workspaces) io.note(`  signalbox queue resume -w ${oneLine(slug)}`);
}

function noteAccess(io: Io, access: NonNullable<EpochReport['access']>): void {
  const { tokens, sessions, invitations, passwordResets, deviceLogins } = access;
  const live = tokens.filter(({ wasLive }) => wasLive);
  io.note(
    `Ended, because what was revoked after the backup would work again: ${tokens.length} tokens ` +
      `(${live.length} live), and of those that were live ${sessions} sessions, ` +
      `${invitations} invitations, ${passwordResets} password links, ${deviceLogins} device logins.`,
  );
  for (const { kind, workspaceSlug, name } of live.slice(0, LISTED_MAX)) {
    io.note(`  ${kind}  ${oneLine(workspaceSlug)}  ${oneLine(name)}`);
  }
  if (live.length > LISTED_MAX) io.note(`  and ${live.length - LISTED_MAX} more (--json has all)`);
  io.note('To get in again:');
  io.note('  People sign in with the password that they had at the time of the backup. A new one:');
  io.note('    signalbox admin person reset-password --email ADDRESS');
  io.note('  Machines: signalbox login');
  io.note('  Programs: signalbox admin tokens create -w SLUG --name NAME');
}
