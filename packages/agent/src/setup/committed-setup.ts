import { CommitFileError, readCommitFile } from '../git/commit-file.ts';
import { type Mirror, type MirrorBase, mirrorOf, resolveBase } from '../git/git-mirror.ts';
import type { JobWork } from '../job/job-work.ts';
import { SetupFileError } from './setup-files.ts';
import { SETUP_FILE, type SetupSteps } from './setup-options.ts';

/**
 * Finds the commit whose set-up and checks count: that of the branch that the person has
 * configured. One that a job names may be of a tool, and so may be the commit that it builds on.
 */
export async function findConfiguredCommit(
  work: JobWork,
  mirror: Mirror,
  base: MirrorBase,
): Promise<void> {
  const { repository, configured, signal } = work;
  const { setup, landing } = configured;
  if (setup?.readSteps === undefined && landing?.repositoryChecks !== true) return;
  const own = repository === configured ? base : await resolveBase(mirror, configured, signal);
  work.configuredSha = own.sha;
}

/**
 * Reads the steps that the repository has in its commits, if the person allows that.
 *
 * @throws {SetupFileError}
 */
export async function readCommittedSteps(
  work: JobWork,
): Promise<{ steps: SetupSteps; blob: string | null }> {
  const { settings, configured, configuredSha, log } = work;
  const readSteps = configured.setup?.readSteps;
  const none = { steps: {}, blob: null };
  if (readSteps === undefined || configuredSha === undefined) return none;
  const commit = configuredSha.slice(0, 12);
  try {
    const file = await readCommitFile(
      mirrorOf(settings.state, configured),
      configuredSha,
      SETUP_FILE,
    );
    if (file === null) {
      await log.note(`signalbox: commit ${commit} has no ${SETUP_FILE}.`);
      return none;
    }
    await log.note(`signalbox: set-up by ${SETUP_FILE} of commit ${commit}.`);
    return { steps: readSteps(file.text), blob: file.blob };
  } catch (error) {
    if (!(error instanceof CommitFileError)) throw error;
    throw new SetupFileError(`${SETUP_FILE} of commit ${commit} ${error.message}.`);
  }
}
