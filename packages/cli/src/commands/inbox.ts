import {
  type ListedUncertainty,
  type UncertaintyKind,
  uncertaintyKinds,
} from '@signalbox/contract';
import { Option } from 'commander';
import { asTyped } from '../command-name.ts';
import { readRepositoryLabels } from '../find/names.ts';
import { findRepository } from '../find/repository-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { formatAge } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { parseInteger } from '../terminal/numbers.ts';
import { collectPages } from '../terminal/pages.ts';
import { printTable } from '../terminal/table.ts';
import { shortId } from '../words/job-text.ts';
import { deadlineText, kindWords, questionLine } from '../words/question-text.ts';

interface Options {
  kind?: UncertaintyKind;
  repo?: string;
  run?: string;
  mine?: true;
  limit: number;
  all?: true;
}

/**
 * `signalbox inbox`: lists open questions, the most urgent first, with the deadlines and how many
 * jobs wait; alike ones in one row. With `--json`: `{ok, uncertainties, nextCursor}`, as in the
 * hub's answer.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .addOption(
        new Option('--kind <kind>', 'only questions of this kind').choices(uncertaintyKinds),
      )
      .option('--repo <path|id>', 'only questions about this repository, by a clone or an ID')
      .option('--run <id>', 'only questions of this run')
      .option('--mine', 'only questions of jobs that you enqueued')
      .option(
        '--limit <number>',
        'maximum number of questions',
        parseInteger({ min: 1, max: 100_000 }),
        20,
      )
      .option('--all', 'list all open questions');
  },

  examples: [
    ['signalbox inbox', 'what agents ask'],
    ['signalbox inbox --mine --repo .', 'about my jobs in this clone'],
  ],

  async run({ io, options, session, client, workspaceId }) {
    const { kind, repo, run, mine } = options;
    const filters = {
      workspaceId,
      kind,
      repoId: repo && (await findRepository(io, session, repo)),
      runId: run,
      mine,
    };
    const rowsMax = options.all ? Infinity : options.limit;
    const { rows, nextCursor } = await collectPages(rowsMax, 'uncertainties', (page) =>
      client.uncertainties.inbox({ ...filters, ...page }),
    );
    if (io.json) return io.printJson({ ok: true, uncertainties: rows, nextCursor });
    const isFiltered = [kind, repo, run, mine].some((each) => each !== undefined);
    if (rows.length === 0) {
      io.print(isFiltered ? 'No matching open questions.' : 'No open questions.');
      return;
    }
    printQuestions(io, rows, await readRepositoryLabels(session));
    io.note(asTyped(`Answer one: signalbox answer ${shortId(rows[0]?.uncertaintyId ?? 'ID')}`));
    const alike = rows.find(({ alikeIds = [] }) => alikeIds.length > 0);
    if (alike !== undefined) {
      const all = `All ${(alike.alikeIds?.length ?? 0) + 1} of a row`;
      io.note(asTyped(`${all}: signalbox answer ${shortId(alike.uncertaintyId)} --alike`));
    }
    if (nextCursor !== null) io.note('More questions exist: add --limit N or --all.');
  },
});

function printQuestions(
  io: Io,
  questions: readonly ListedUncertainty[],
  repositories: ReadonlyMap<string, string>,
): void {
  const { styles } = io;
  const nowMs = Date.now();
  printTable<ListedUncertainty>(
    io,
    [
      { title: 'QUESTION', text: ({ uncertaintyId: id }) => shortId(id), style: styles.bold },
      { title: 'KIND', text: ({ kind }) => kindWords[kind], isOptional: true },
      { title: 'TITLE', text: questionLine, isFlexible: true },
      {
        title: 'DEADLINE',
        text: (each) => deadlineText(each, nowMs) ?? '–',
        style: (text, { overdue }) => (overdue ? styles.yellow(text) : text),
      },
      {
        title: 'WAITING',
        text: ({ waitingJobs = 0 }) => (waitingJobs === 0 ? '–' : String(waitingJobs)),
        isOptional: true,
      },
      {
        title: 'JOB',
        text: ({ jobId }) => (jobId ? shortId(jobId) : '–'),
        style: styles.dim,
        isOptional: true,
      },
      { title: 'AGE', text: ({ createdAt }) => formatAge(createdAt, nowMs), style: styles.dim },
      {
        title: 'REPOSITORY',
        text: ({ repoId }) =>
          repoId === null ? '–' : (repositories.get(repoId) ?? shortId(repoId)),
        style: styles.dim,
        isOptional: true,
      },
    ],
    questions,
  );
}
