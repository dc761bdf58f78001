import type { Job } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { shortId } from '../words/job-text.ts';

/**
 * `signalbox work approve JOB`: approves the commit of the latest round of a work. With `--json`:
 * the hub's answer `{ok, work}`.
 */
export const command = defineHubCommand<{ override?: string }>({
  describe(program) {
    program
      .argument('<job>', 'the latest job of the work, by its ID or the end of it')
      .option('--override <reason>', 'although something is missing; the reason is kept');
  },

  examples: [
    ['signalbox work approve 8f3a1c2d', 'what you have reviewed'],
    ['signalbox work approve 8f3a1c2d --override "The test is flaky"', 'with a failed check'],
  ],

  async run({ io, args, options, session, client, workspaceId }) {
    const jobId = await findJobId(session, args[0] ?? '');
    const { job } = await client.jobs.get({ workspaceId, jobId });
    // A person who names an earlier round has not seen the latest commit: the hub refuses it.
    const { commitSha } = readCommit(job);
    const { override } = options;
    const answer = await client.works.approve({ workspaceId, jobId, commitSha, override });
    if (io.json) return io.printJson(answer);
    const { verdict } = answer.work;
    io.print(`${io.styles.green('✔')} Approved ${commitSha.slice(0, 12)} of ${shortId(jobId)}.`);
    if (verdict === 'unverified') io.note('  It was not verified: its agent ran no checks.');
    io.print(io.styles.dim(asTyped(`  signalbox work land ${shortId(jobId)}`)));
  },
});

/** @throws {CliError} NO_COMMIT. */
function readCommit({ jobId, evidence }: Job): { commitSha: string } {
  const { commitSha } = evidence ?? {};
  if (commitSha !== undefined && commitSha !== '') return { commitSha };
  const message = 'The job has no commit to approve.';
  throw new CliError(exitCodes.failed, 'NO_COMMIT', message, {
    fix: `See: signalbox job ${shortId(jobId)}`,
  });
}
