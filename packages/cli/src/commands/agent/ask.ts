import { askPerson, type PersonAnswer, ResultFileError } from '@signalbox/agent/job-tools';
import { uncertaintyKinds } from '@signalbox/contract';
import { Option } from 'commander';
import { CliError } from '../../cli-error.ts';
import { defineCommand } from '../../command-module.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { parseDurationMs } from '../../terminal/duration.ts';
import { jobContextOf } from './job-context.ts';

interface Options {
  option?: string[];
  recommend?: string;
  kind?: (typeof uncertaintyKinds)[number];
  why?: string;
  deadline?: number;
  wait?: number;
}

const codeOf: Readonly<Record<PersonAnswer['status'], ExitCode>> = {
  answered: exitCodes.ok,
  waiting: exitCodes.blocked,
  dismissed: exitCodes.canceled,
};

/**
 * `signalbox ask`: asks a person from a command of a job, and prints the answer. With `--json`:
 * `{uncertaintyId, status, answer}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .argument('<question>', 'what a person is to decide')
      .option('--option <text>', 'a suggested answer; repeatable', collect)
      .option('--recommend <text>', 'the option that you would choose')
      .option('--why <text>', 'what depends on the answer')
      .addOption(new Option('--kind <kind>', 'what is asked for').choices([...uncertaintyKinds]))
      .option(
        '--deadline <time>',
        'when the answer is needed, such as 2h: the inbox shows it first',
        parseDurationMs,
      )
      .option(
        '--wait <time>',
        'how long to wait for the answer, such as 10m (default: as the agent holds, 5m)',
        parseDurationMs,
      );
  },

  examples: [
    ['signalbox ask "Which database?" --option PostgreSQL --option SQLite', ''],
    ['signalbox ask "May I deploy?" --option yes --option no --wait 30m', ''],
  ],
  notes:
    'It works in a job only. Exit codes: 0 answered; 6 no answer in time: end the command, and\n' +
    'the job is blocked until a person answers, then runs again; 7 dismissed: a person wants no\n' +
    'answer to be given. The same question in the same job is asked once.',

  async run({ io, args: [question = ''], options }) {
    const context = jobContextOf(io.env);
    const { option, recommend, kind, why, deadline, wait } = options;
    const deadlineMs = deadline === undefined ? undefined : Date.now() + deadline;
    const answer = await askPerson(
      context,
      { question, options: option, recommended: recommend, kind, why, deadlineMs },
      { waitMs: wait ?? context.holdMs, signal: io.signal },
    ).catch((error: unknown) => {
      if (!(error instanceof ResultFileError)) throw error;
      throw new CliError(exitCodes.usage, 'REPORT_INVALID', error.message, { cause: error });
    });
    if (io.json) io.printJson(answer);
    else if (answer.answer !== null) io.printText(answer.answer);
    else io.note(answer.status === 'dismissed' ? 'Dismissed.' : 'No person has answered yet.');
    return codeOf[answer.status];
  },
});

function collect(value: string, values: string[] = []): string[] {
  return [...values, value];
}
