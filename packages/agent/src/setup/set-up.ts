import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import type { ToolCall } from '@signalbox/contract';
import { runShellLine } from '../job/job-process.ts';
import { JobFailure, JobStopped, type JobWork } from '../job/job-work.ts';
import { reasonLineOf } from '../job/reason-line.ts';
import { withoutToken } from '../process/environment.ts';
import { ProcessStartError } from '../process/process-run.ts';
import { readCommittedSteps } from './committed-setup.ts';
import { returnPorts, takePorts } from './job-ports.ts';
import { fillCache, findCache, refuseKept, takeFromCache } from './setup-cache.ts';
import {
  copyFromClone,
  excludeFromGit,
  linkToClone,
  requireExcluded,
  SetupFileError,
} from './setup-files.ts';
import type { SetupCommand, SetupOptions } from './setup-options.ts';

/** All commands of a tear-down together. */
const TEARDOWN_MS_MAX = 60_000;

/** The tool did not begin: the attempt does not count, and another agent may do better. */
const SETUP_RETRY = { recommendedDelayMs: 30_000, spendsAttempt: false, occurrencesMax: 3 };

/**
 * Sets a worktree up, before the tool begins.
 *
 * @param isNew false: an attempt before has set it up, and its tool has worked in it. Only the
 *   commands are run again.
 */
export async function setUp(work: JobWork, isNew: boolean): Promise<void> {
  const { setup } = work.repository;
  if (setup === undefined) return;
  try {
    const { steps, blob } = await readCommittedSteps(work);
    work.setup = { ...setup, ...steps };
    await performSetup(work, work.setup, { isNew, file: blob });
    work.setupEnd = { failure: null };
  } catch (error) {
    if (!(error instanceof SetupStepError) && !(error instanceof SetupFileError)) throw error;
    work.setupEnd = { failure: work.redactor.redact(error.message) };
    const summary = `The worktree could not be set up, so the tool did not begin. ${error.message}`;
    throw new JobFailure('environment', 'setup_failed', summary, SETUP_RETRY);
  }
}

async function performSetup(
  work: JobWork,
  setup: SetupOptions,
  { isNew, file }: { isNew: boolean; file: string | null },
): Promise<void> {
  const { run = [] } = setup;
  await giveNames(work, setup);
  if (isNew) await putFiles(work, setup);
  for (const step of run) {
    // Its folders are there, and the tool may have changed them.
    if (!isNew && step.keep !== undefined) continue;
    await inSection(work, `Set-up: ${step.command}`, () => runStep(work, step, file));
  }
}

/** Names what this attempt has alone, for hooks, commands and the tool. */
async function giveNames(work: JobWork, { ports = 0, database }: SetupOptions): Promise<void> {
  work.ports = [];
  const taken = await takePorts(ports);
  if (taken === null) throw new SetupFileError('No port of this machine is free.');
  work.ports = taken;
  const { jobId, claimGeneration } = work.claimed;
  const tail = jobId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(-8);
  const names: Record<string, string> = {
    ...Object.fromEntries(taken.map((port, at) => [`SIGNALBOX_PORT_${at + 1}`, String(port)])),
    ...(database === true ? { SIGNALBOX_DATABASE: `sb_${tail}_${claimGeneration}` } : {}),
  };
  for (const [name, value] of Object.entries(names)) {
    await work.log.note(`signalbox: ${name}=${value}`);
  }
  work.env = { ...work.env, ...names };
}

/**
 * Undoes the set-up, however the attempt has ended: also after a failure, and when its job was
 * canceled. A failure is a note in the log.
 */
export async function tearDown(work: JobWork): Promise<void> {
  const { worktree, setup, claimed, ports } = work;
  if (ports === undefined) return;
  // A worktree that could not be published was moved, and one that a tool has replaced is no place.
  const found = worktree === undefined ? null : await lstat(worktree.path).catch(() => null);
  const cwd = found?.isDirectory() ? work.directory.worktree : work.directory.path;
  const env = withoutToken(work.env, claimed.jobToken);
  const alone = { ...work, env, signal: AbortSignal.timeout(TEARDOWN_MS_MAX) };
  for (const line of setup?.teardown ?? []) {
    try {
      await inSection(work, `Tear-down: ${line}`, async () => ({
        how: 'done',
        exitCode: await runLine(alone, line, cwd),
      }));
    } catch (error) {
      const isExpected = error instanceof JobStopped || error instanceof ProcessStartError;
      if (!isExpected && !(error instanceof SetupStepError)) throw error;
      const why = error instanceof JobStopped ? 'The tear-down took too long.' : error.message;
      await work.log.note(`signalbox: ${why}`);
    }
  }
  returnPorts(ports);
  delete work.ports;
}

async function putFiles(
  work: JobWork,
  { copy = [], link = [], run = [] }: SetupOptions,
): Promise<void> {
  const { worktree, redactor } = work;
  if (worktree === undefined) return;
  const paths = [...copy, ...link];
  const kept = run.flatMap(({ keep = [] }) => keep);
  await excludeFromGit(worktree, [...paths, ...kept]);
  if (paths.length === 0) return;
  await inSection(work, `Set-up: files ${paths.join(', ')}`, async () => {
    await copyFromClone(worktree, copy, redactor);
    await linkToClone(worktree, link);
    await requireExcluded(worktree, paths);
    return { how: 'done' };
  });
}

interface StepEnd {
  /** How the step was done. */
  how: string;
  exitCode?: number;
}

async function runStep(work: JobWork, step: SetupCommand, file: string | null): Promise<StepEnd> {
  const { worktree, settings, repository, env } = work;
  const cache =
    worktree === undefined
      ? null
      : await findCache(settings.state, repository.repoId, { worktree, env, step, file });
  if (worktree === undefined || cache === null) {
    return { how: 'done', exitCode: await runLine(work, step.command) };
  }
  work.setupCaches = [...(work.setupCaches ?? []), cache];
  await refuseKept(cache, worktree);
  if (await takeFromCache(cache, worktree)) {
    await requireExcluded(worktree, cache.keep);
    return { how: 'copied from the cache' };
  }
  const exitCode = await runLine(work, step.command);
  await requireExcluded(worktree, cache.keep);
  // Scripts in the commits of a tool would have decided what other jobs get.
  if (work.beginsAtBase === true) await fillCache(cache, worktree);
  return { how: 'done', exitCode };
}

/** @returns the exit code. */
async function runLine(
  work: JobWork,
  command: string,
  cwd = work.directory.worktree,
): Promise<number> {
  const { exit, tail } = await runShellLine(work, command, { cwd });
  if (work.signal.aborted) throw new JobStopped();
  if (exit.code === 0) return 0;
  const how = exit.code === null ? `was killed by ${exit.signal}` : `exited with ${exit.code}`;
  const said = reasonLineOf(work.redactor.redact(tail).split('\n'))?.trim();
  throw new SetupStepError(`${command} ${how}${said === undefined ? '.' : `: ${said}`}`, exit.code);
}

class SetupStepError extends Error {
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs a step as a section of the log, with its name, its time and its end. */
async function inSection(
  work: JobWork,
  title: string,
  step: () => Promise<StepEnd>,
): Promise<void> {
  const { clock } = work.settings;
  const beganMs = clock.monotonicMs();
  const id = randomUUID();
  const tell = (text: string, call: Pick<ToolCall, 'status' | 'exitCode'>) =>
    work.log.append('agent', [
      {
        text: `signalbox: ${title}${text}\n`,
        activity: { toolCall: { id, kind: 'execute', title, ...call } },
      },
    ]);
  const seconds = () => `${((clock.monotonicMs() - beganMs) / 1_000).toFixed(1)} s`;
  await tell('', { status: 'running' });
  try {
    const { how, ...exit } = await step();
    await tell(`: ${how} in ${seconds()}`, { status: 'done', ...exit });
  } catch (error) {
    const exitCode = error instanceof SetupStepError ? error.exitCode : null;
    const ended = exitCode === null ? {} : { exitCode };
    const end = error instanceof JobStopped ? 'stopped' : 'failed';
    await tell(`: ${end} after ${seconds()}`, { status: 'failed', ...ended });
    throw error;
  }
}
