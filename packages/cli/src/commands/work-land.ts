import { randomUUID } from 'node:crypto';
import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { followJob } from '../hub/job-follow.ts';
import { parseDurationMs } from '../terminal/duration.ts';
import { exitCodeOf, shortId } from '../words/job-text.ts';
import { stateText } from '../words/work-text.ts';

/**
 * `signalbox work land JOB`: lands an approved work, shows the timeline of its landing, and exits
 * with the outcome. With `--json`: lines as of `signalbox job --follow --json`.
 */
export const command = defineHubCommand<{ timeout?: number }>({
  describe(program) {
    program
      .argument('<job>', 'a job of the work, by its ID or the end of it')
      .option('--timeout <time>', 'stop waiting after this time, such as 30m', parseDurationMs);
  },

  examples: [['signalbox work land 8f3a1c2d', 'as its agent is configured']],

  async run({ io, args, options, session, client, workspaceId }) {
    const named = await findJobId(session, args[0] ?? '');
    const read = await client.jobs.get({ workspaceId, jobId: named });
    const jobId = read.work?.jobId ?? named;
    const { job } = await client.works.land(
      // With a key the call is sent again when its answer was lost.
      { workspaceId, jobId, idempotencyKey: randomUUID() },
    );
    const { timeout: timeoutMs } = options;
    const { status } = await followJob(io, session, job.jobId, { timeoutMs });
    const { work } = await client.jobs.get({ workspaceId, jobId });
    if (!io.json && work !== undefined) io.print(`${shortId(jobId)}  ${stateText(work)}`);
    return exitCodeOf(status);
  },
});
