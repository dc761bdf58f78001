import { askGit, GitError, runGit } from '../git/git.ts';
import type { GitEvidence } from '../git/git-evidence.ts';
import { findCloneRoot } from '../git/git-mirror.ts';
import type { JobWork } from '../job/job-work.ts';

/** The remote that gets the branches. */
const REMOTE = 'origin';
/** A push that takes longer waits for a person, such as for a passphrase. */
const PUSH_MS_MAX = 2 * 60_000;

/** Where the branch of a job was pushed to. */
export interface PushTarget {
  /** The person's clone. */
  clonePath: string;
  remote: string;
  /** As configured, before git rewrites it by the person's `insteadOf`. */
  url: string;
}

/** The branch was not pushed, or no pull request was opened. The message becomes a gap. */
export class LandingError extends Error {
  override name = 'LandingError';
}

/**
 * Pushes the commit of a job from the person's clone, with the person's access. Nothing else is
 * pushed, no branch is overwritten, and the clone's hooks do not run: they may prompt.
 *
 * @throws {LandingError}
 */
export async function pushBranch(work: JobWork, evidence: GitEvidence): Promise<PushTarget> {
  const { branch = work.branch, commitSha, secretsIn = [] } = evidence;
  const [secret] = secretsIn;
  if (secret !== undefined) throw new LandingError(`Not pushed: ${secret} contains a secret.`);
  if (work.signal.aborted) throw new LandingError('Not pushed: the job or the agent was stopped.');
  const { env } = work.settings;
  const clonePath = await findCloneRoot(work.repository.path, { env });
  const ask = (...args: string[]) => askGit(['-C', clonePath, ...args], { env });
  const address = await ask('remote', 'get-url', '--push', REMOTE);
  if (address === null) throw new LandingError(`Not pushed: the clone has no remote ${REMOTE}.`);
  const ownUrl = await ask('config', '--get', `remote.${REMOTE}.pushurl`);
  const url = ownUrl ?? (await ask('config', '--get', `remote.${REMOTE}.url`)) ?? address;
  const options = ['--quiet', '--no-follow-tags', '--recurse-submodules=no'];
  const refspec = `${commitSha}:refs/heads/${branch}`;
  try {
    await runGit(['-C', clonePath, 'push', ...options, REMOTE, refspec], {
      env,
      limitMs: PUSH_MS_MAX,
      signal: work.signal,
    });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new LandingError(`Not pushed: ${hideRemote(error.message, [address, url])}`, {
      cause: error,
    });
  }
  await work.log.note(`signalbox: pushed ${branch} to ${REMOTE}.`);
  return { clonePath, remote: REMOTE, url };
}

/** The hub never learns where a repository is. */
function hideRemote(text: string, addresses: readonly string[]): string {
  return addresses
    .reduce((shown, address) => shown.replaceAll(address, 'the remote'), text)
    .replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, 'the remote')
    .replace(/[^\s@']+@[^\s:']+:[^\s']+/g, 'the remote');
}
