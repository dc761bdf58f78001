import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { HubOptions } from '../command-module.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../terminal/io.ts';
import { findWorkBranch, listWorkBranches, type WorkBranch } from './branches.ts';
import { type Clone, openClone, runGit } from './clone-git.ts';
import { findRoundBranch, readWork, type Work } from './work-view.ts';

/** Adds the argument of a command about the branch of one job. */
export function addWorkArgument(program: Command): void {
  program.argument('<job>', 'a job, by its ID or the end of it, or the name of its branch');
}

/**
 * Opens the branch of a job in the clone of the current directory.
 * @throws {CliError} NOT_A_CLONE, WORK_NOT_FOUND, WORK_AMBIGUOUS.
 */
export async function openWork(
  io: Io,
  reference: string | undefined,
  options: HubOptions,
): Promise<{ clone: Clone; work: Work }> {
  const clone = await openClone(io);
  const branch = await findBranch(io, reference ?? '', options, await listWorkBranches(clone));
  const { works } = await readWork(io, options, [branch]);
  return { clone, work: works[0] ?? { branch, job: null, verdict: null, state: null } };
}

async function findBranch(
  io: Io,
  reference: string,
  options: HubOptions,
  branches: readonly WorkBranch[],
): Promise<WorkBranch> {
  try {
    return findWorkBranch(branches, reference);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'WORK_NOT_FOUND') throw error;
    const found = await findRoundBranch(io, options, branches, reference);
    if (found === null) throw error;
    return found;
  }
}

const FILES_SHOWN = 3;

/**
 * Refuses a clone with uncommitted changes: git would carry them along or mix them with the work.
 * Files that git does not know yet stay where they are.
 * @throws {CliError} TREE_DIRTY.
 */
export async function requireCleanTree(clone: Clone): Promise<void> {
  const args = ['status', '--porcelain', '-z', '--untracked-files=no', '--no-renames'];
  const changed = (await runGit(clone, args)).split('\0').filter((line) => line !== '');
  if (changed.length === 0) return;
  const names = changed.map((line) => line.slice(3));
  const more = names.length > FILES_SHOWN ? ', …' : '';
  const message = `This clone has uncommitted changes: ${names.slice(0, FILES_SHOWN).join(', ')}${more}.`;
  throw new CliError(exitCodes.failed, 'TREE_DIRTY', message, {
    fix: 'Commit them, or put them aside with: git stash',
  });
}
