import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { shortId } from '../words/job-text.ts';

/**
 * `signalbox work close JOB`: closes a work that shall not land. Its branch stays. With `--json`:
 * the hub's answer `{ok, work}`.
 */
export const command = defineHubCommand({
  describe(program) {
    program.argument('<job>', 'a job of the work, by its ID or the end of it');
  },

  examples: [['signalbox work close 8f3a1c2d', 'it leaves the lists']],

  async run({ io, args, session, client, workspaceId }) {
    const jobId = await findJobId(session, args[0] ?? '');
    const answer = await client.works.close({ workspaceId, jobId });
    if (io.json) return io.printJson(answer);
    io.print(`${io.styles.green('✔')} Closed ${shortId(jobId)}.`);
  },
});
