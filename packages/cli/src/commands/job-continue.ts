import { randomUUID } from 'node:crypto';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { findJobId } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { type Prompt, readPrompt } from '../hub/prompt-source.ts';
import { describeFailure } from '../terminal/exit.ts';
import { shortId } from '../words/job-text.ts';

interface Options {
  file?: string;
  edit?: true;
  tool?: string;
  model?: string;
}

/**
 * `signalbox job continue ID`: enqueues the next round of a job that is done or failed, with a
 * message as its prompt. A job that has not ended keeps the message: for its tool, if that takes
 * messages between its turns, or for the next round. With `--json`: the hub's answer `{ok, job,
 * delivery, message?, takesMessages?}`; `delivery` is `round` or `message`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('<id>', 'the latest job of the work, by its ID or the end of it')
      .argument('[message]', 'what is to be done now; - reads it from standard input')
      .option('--file <file>', 'the message is the text of this file')
      .option('--edit', 'write the message in $EDITOR; so does a terminal without a message')
      .option('--tool <name>', 'by an agent with another tool, in a new session')
      .option('--model <name>', 'with another model');
  },

  examples: [
    ['signalbox job continue 8f3a1c2d "Handle the empty list, too"', 'on the same branch'],
    ['signalbox job continue 8f3a1c2d - < review.md', 'with the message of a file'],
    ['signalbox job continue 8f3a1c2d "Review it" --tool codex', 'by another tool'],
  ],

  async run({ io, args, options, session }) {
    const jobId = await findJobId(session, args[0] ?? '');
    const prompt = await readPrompt(io, args[1], options);
    const answer = await continueJob(session, jobId, prompt, options);
    if (io.json) return io.printJson(answer);
    const { job, delivery, takesMessages = false } = answer;
    const { green, dim } = io.styles;
    if (delivery === 'message') {
      const then = takesMessages
        ? 'its tool gets it at the end of this turn, or it becomes the next round'
        : 'when it is done, its messages become the next round';
      io.print(`${green('✔')} ${shortId(jobId)} keeps the message: ${then}.`);
      return;
    }
    io.print(`${green('✔')} Enqueued round ${job.round}: ${job.jobId}`);
    io.print(dim(asTyped(`  signalbox job ${shortId(job.jobId)} --follow`)));
  },
});

/** @throws what the hub says; a message that was written in the editor is kept then. */
async function continueJob(
  { client, workspaceId }: HubSession,
  jobId: string,
  { text: message, edited }: Prompt,
  { tool, model }: Options,
) {
  try {
    const answer = await client.jobs.continue({
      // With a key the call is sent again when its answer was lost.
      workspaceId,
      jobId,
      message,
      idempotencyKey: randomUUID(),
      tool,
      model,
    });
    await edited?.remove();
    return answer;
  } catch (error) {
    if (edited === null) throw error;
    const { exitCode, code, message: why } = describeFailure(error);
    throw new CliError(exitCode, code, why, {
      fix: `Send the kept message: signalbox job continue ${jobId} --file ${edited.file}`,
      cause: error,
    });
  }
}
