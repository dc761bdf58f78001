import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { shortId } from '../words/job-text.ts';

/**
 * `signalbox job choose ID`: chooses one of the variants of a work, and closes the others. With
 * `--json`: the hub's answer `{ok, job, variants}`.
 */
export const command = defineHubCommand({
  describe(program) {
    program.argument('<id>', 'the variant to keep, by its ID or the end of it');
  },

  examples: [['signalbox job choose 8f3a1c2d', 'cancels what the others still do']],

  async run({ io, args, session, client, workspaceId }) {
    const jobId = await findJobId(session, args[0] ?? '');
    const answer = await client.jobs.chooseVariant({ workspaceId, jobId });
    if (io.json) return io.printJson(answer);
    const others = answer.variants.filter(({ isChosen }) => isChosen === false);
    const closed = others.map((other) => shortId(other.jobId)).join(', ');
    io.print(`${io.styles.green('✔')} Chose ${shortId(jobId)}; closed ${closed}.`);
  },
});
