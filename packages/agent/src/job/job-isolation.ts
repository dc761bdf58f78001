import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { askedIsolation } from '../executors/asked-tool.ts';
import { mirrorOf } from '../git/git-mirror.ts';
import type { Wrap } from '../isolation/bubblewrap.ts';
import { isolate } from '../isolation/isolation.ts';
import { IsolationError } from '../isolation/rungs.ts';
import { admitUser } from '../process/tool-user.ts';
import { JobFailure, type JobWork } from './job-work.ts';

/** The tool did not begin: the attempt does not count, and another agent may do better. */
const ISOLATION_RETRY = { recommendedDelayMs: 30_000, spendsAttempt: false, occurrencesMax: 3 };

/**
 * Keeps the processes of a job from the machine, and proves in its own place that they are. What
 * held at the start of the agent may not hold any more.
 */
export async function isolateJob(work: JobWork): Promise<void> {
  const { settings, directory, repository } = work;
  const { isolation, toolUser, executor, tool } = settings;
  await mkdir(directory.privateDir, { recursive: true, mode: 0o700 });
  await admitUser(directory.privateDir, toolUser);
  const links = repository.setup?.link ?? [];
  try {
    const { wrap, proof, isSandboxOff } = await isolate(isolation, executor, {
      cwd: directory.worktree,
      env: work.env,
      isReadOnly: work.isReadOnly,
      privateDir: directory.privateDir,
      readable: [
        join(mirrorOf(settings.state, repository).gitDir, 'objects'),
        ...[directory.promptFile, directory.attachments],
        ...(settings.hooksDir === undefined ? [] : [settings.hooksDir]),
        ...links.map((path) => join(repository.path, path)),
      ],
      writable: [directory.worktree, directory.toolFiles, directory.notes],
    });
    const lost = tool.proof?.rungs.find((rung) => !proof.rungs.includes(rung));
    if (lost !== undefined) {
      const why = proof.broken.find(({ rung }) => rung === lost)?.why;
      throw new IsolationError(`${lost} held at the start of the agent, and does not now: ${why}`);
    }
    const asked = askedIsolation(work.claimed.job.requirements);
    if (asked !== '' && !proof.rungs.some((rung) => rung === asked)) {
      throw new IsolationError(`The job asks for ${asked}, which this agent does not have.`);
    }
    work.wrap = wrap;
    work.isSandboxOff = isSandboxOff;
    work.proof = proof;
  } catch (error) {
    if (!(error instanceof IsolationError)) throw error;
    const summary = `The tool did not begin, because it is not isolated. ${error.message}`;
    throw new JobFailure('environment', 'isolation_failed', summary, ISOLATION_RETRY);
  }
}

/** How the processes of a job start that work among the tool's files. */
export function wrapOf({ wrap, settings: { isolation } }: JobWork): Wrap | null {
  if (wrap === undefined && isolation.bwrap !== null) throw new Error('isolated before');
  return wrap ?? null;
}
