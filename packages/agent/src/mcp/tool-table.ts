import {
  COMMENT_CHARS_MAX,
  commentAnswerWords,
  jobKinds,
  uncertaintyKinds,
} from '@signalbox/contract';
import { z } from 'zod';
import { jsonBytes } from '../job/text-limits.ts';
import {
  appendToReport,
  Finding,
  finishOutcomes,
  REPORTED_MAX,
  Reported,
  readToolReport,
} from '../job/tool-report.ts';
import { askPerson, checkAnswer, type PersonAnswer } from './ask-person.ts';
import { attachFile } from './attach-file.ts';
import type { JobContext } from './job-context.ts';
import { JobToolError } from './job-tool-error.ts';
import { readContext } from './read-context.ts';

/** A tool of the per-job MCP server. */
export interface JobTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** Only reads: a client may run it without asking. */
  readonly isReading?: true;
  run(context: JobContext, input: unknown, signal: AbortSignal): Promise<string>;
}

/** Checks a tool's types; does nothing at run time. */
function defineTool<Shape extends z.ZodRawShape>(
  tool: Omit<JobTool, 'input' | 'run'> & {
    input: z.ZodObject<Shape>;
    run(
      context: JobContext,
      input: z.infer<z.ZodObject<Shape>>,
      signal: AbortSignal,
    ): Promise<string>;
  },
): JobTool {
  // The server validates the input by the schema before it calls `run`.
  return tool;
}

const RUN_JOBS_MAX = 50;
const CHILDREN_MAX = 50;
const CHILDREN_BYTES_MAX = 80_000;
const CONTEXT_TOKENS_DEFAULT = 6_000;
const MINUTE_MS = 60_000;
/** 90 days: hubs keep questions about as long. */
const DEADLINE_MINUTES_MAX = 129_600;

/** In a fixed order. Schemas are short: the whole list is in the context of every model call. */
export const jobTools: readonly JobTool[] = [
  defineTool({
    name: 'ask_person',
    description:
      'Ask a person a question that you cannot answer from the repository: a missing fact, a ' +
      'choice, an approval. Waits some minutes for the answer. Without an answer, end your turn: ' +
      'the job is blocked and continues with the answer. Ask each question once.',
    input: z.object({
      question: z.string().min(1).max(8_000),
      options: z.array(z.string().min(1).max(200)).max(20).optional(),
      recommended: z.string().max(200).optional().describe('one of the options'),
      why: z.string().max(20_000).optional().describe('what depends on it, for the person'),
      kind: z.enum(uncertaintyKinds).optional(),
      deadlineMinutes: z
        .number()
        .min(1)
        .max(DEADLINE_MINUTES_MAX)
        .optional()
        .describe('when the answer is needed; it still waits afterwards'),
      wait: z.boolean().optional().describe('false: continue, and use check_answer later'),
    }),
    async run(context, { wait = true, deadlineMinutes, ...question }, signal) {
      const waitMs = wait ? context.holdMs : 0;
      const deadlineMs =
        deadlineMinutes === undefined ? undefined : Date.now() + deadlineMinutes * MINUTE_MS;
      const asked = { ...question, deadlineMs };
      const answer = await askPerson(context, asked, { waitMs, signal });
      return wordsOf(answer, wait);
    },
  }),
  defineTool({
    name: 'check_answer',
    description: 'Read answers to earlier questions without waiting. Without id: of all of them.',
    input: z.object({ id: z.string().max(200).optional() }),
    isReading: true,
    run: checkAnswers,
  }),
  defineTool({
    name: 'get_context',
    description: 'Read what the workspace knows for this run: notes, mails, documents.',
    input: z.object({
      search: z.string().max(500).optional().describe('only sections with these words'),
      maxTokens: z.number().int().min(100).max(50_000).optional(),
    }),
    isReading: true,
    run: (context, { search, maxTokens = CONTEXT_TOKENS_DEFAULT }, signal) =>
      readContext(context, { search, maxTokens }, signal),
  }),
  defineTool({
    name: 'report_progress',
    description: 'Tell people in one sentence what you are doing now.',
    input: z.object({ message: z.string().min(1).max(2_000) }),
    async run({ client, ids, claim, redactor }, { message }, signal) {
      const entry = { logSeq: nextLogSeq(), message: `${redactor.redact(message)}\n` };
      await client.jobEvents.append({ ...ids, ...claim, entries: [entry] }, { signal });
      return 'Noted.';
    },
  }),
  defineTool({
    name: 'report_evidence',
    description: 'Record the outcome of a check that you ran, such as tests or a measurement.',
    input: Reported,
    async run({ reportFile }, evidence) {
      const known = await readToolReport(reportFile);
      if (known.evidence.length >= REPORTED_MAX) {
        throw new JobToolError(`A job reports at most ${REPORTED_MAX} checks.`);
      }
      await appendToReport(reportFile, { type: 'evidence', ...evidence });
      return 'Recorded. It is part of the evidence of this job.';
    },
  }),
  defineTool({
    name: 'report_finding',
    description: 'Report something wrong in the code that you review. One call for each finding.',
    input: Finding,
    async run({ reportFile }, finding) {
      const { findings } = await readToolReport(reportFile);
      if (findings.length >= REPORTED_MAX) {
        throw new JobToolError(`A job reports at most ${REPORTED_MAX} findings.`);
      }
      await appendToReport(reportFile, { type: 'finding', ...finding });
      return 'Recorded.';
    },
  }),
  defineTool({
    name: 'spawn_job',
    description: 'Enqueue a further job in this repository. It is enqueued when this job is done.',
    input: z.object({ kind: z.enum(jobKinds), prompt: z.string().min(1).max(50_000) }),
    run: spawnJob,
  }),
  defineTool({
    name: 'list_run_jobs',
    description: 'List the jobs of this run with their state.',
    input: z.object({}),
    isReading: true,
    run: listRunJobs,
  }),
  defineTool({
    name: 'attach_file',
    description: 'Upload a file of the worktree for people to see, such as a screenshot.',
    input: z.object({ path: z.string().min(1).max(4_096) }),
    async run(context, { path }, signal) {
      const { fileName, sizeBytes } = await attachFile(context, path, signal);
      return `Attached ${fileName} (${sizeBytes} bytes).`;
    },
  }),
  defineTool({
    name: 'finish',
    description:
      'Say how the job ends, as your last call: done, blocked (a person is needed) or failed. ' +
      'Then end your turn.',
    input: z.object({
      outcome: z.enum(finishOutcomes),
      message: z.string().min(1).max(10_000).describe('what you did, or what is missing'),
    }),
    async run({ reportFile }, finish) {
      await appendToReport(reportFile, { type: 'finish', ...finish });
      return 'Noted. End your turn now.';
    },
  }),
];

/** Only in rounds that got review comments. */
const answerComment = defineTool({
  name: 'answer_comment',
  description:
    'Answer a review comment: changed, disagree with the reason, or question for its author. A ' +
    'question is asked as by ask_person.',
  input: z.object({
    number: z.number().int().min(1),
    word: z.enum(commentAnswerWords),
    note: z.string().min(1).max(COMMENT_CHARS_MAX),
  }),
  async run(context, answer, signal) {
    const { number, word, note } = answer;
    if (!context.comments.includes(number)) {
      const known = context.comments.join(', ');
      throw new JobToolError(`There is no comment ${number} to answer here; there are ${known}.`);
    }
    await appendToReport(context.reportFile, { type: 'answer', ...answer });
    if (word !== 'question') return 'Noted. People see it beside what git says of the lines.';
    const question = { question: `About review comment ${number}: ${note}` };
    return wordsOf(await askPerson(context, question, { waitMs: context.holdMs, signal }), true);
  },
});

/** The tools of a job. */
export function toolsOf({ comments }: Pick<JobContext, 'comments'>): readonly JobTool[] {
  return comments.length === 0 ? jobTools : [...jobTools, answerComment];
}

/** The words by which a tool learns what became of its question. */
function wordsOf({ uncertaintyId, status, answer }: PersonAnswer, hasWaited: boolean) {
  if (status === 'answered') return `A person answered: ${answer}`;
  if (status === 'dismissed') {
    return 'A person dismissed the question without an answer. Decide by your own judgement.';
  }
  return hasWaited
    ? 'No person has answered yet. End your turn now, and do nothing that depends on the answer. ' +
        `The job is blocked; it continues with the answer. Do not ask again. (id ${uncertaintyId})`
    : `No answer yet. Use check_answer with id ${uncertaintyId}.`;
}

async function checkAnswers(
  context: JobContext,
  { id }: { id?: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  if (id !== undefined) return wordsOf(await checkAnswer(context, id, signal), false);
  const { questions } = await readToolReport(context.reportFile);
  if (questions.length === 0) return 'You have asked no question in this attempt.';
  const lines: string[] = [];
  for (const { uncertaintyId, prompt } of questions) {
    const answer = await checkAnswer(context, uncertaintyId, signal);
    lines.push(`- ${prompt}\n  ${wordsOf(answer, false)}`);
  }
  return lines.join('\n');
}

async function spawnJob(
  { reportFile }: JobContext,
  job: { kind: (typeof jobKinds)[number]; prompt: string },
): Promise<string> {
  const { children } = await readToolReport(reportFile);
  const isKnown = children.some(({ kind, prompt }) => kind === job.kind && prompt === job.prompt);
  if (isKnown) return 'This job is noted already.';
  if (children.length >= CHILDREN_MAX || jsonBytes([...children, job]) > CHILDREN_BYTES_MAX) {
    const limits = `${CHILDREN_MAX} jobs, with ${CHILDREN_BYTES_MAX} bytes in all`;
    throw new JobToolError(`A job can spawn at most ${limits}.`);
  }
  await appendToReport(reportFile, { type: 'child', job });
  return 'Noted. It is enqueued when this job is done.';
}

async function listRunJobs(
  { client, ids }: JobContext,
  _input: object,
  signal: AbortSignal,
): Promise<string> {
  const { job } = await client.jobs.get(ids, { signal });
  if (job.runId === null) return 'This job belongs to no run.';
  const ref = { workspaceId: ids.workspaceId, runId: job.runId };
  const { jobs, isCut } = await client.runs.graph(ref, { signal });
  const shown = jobs.slice(-RUN_JOBS_MAX);
  const lines = shown.map(({ jobId, kind, status, title }) => {
    const mark = jobId === ids.jobId ? ' (this job)' : '';
    return `- ${jobId} ${kind} ${status}${mark}: ${title}`;
  });
  const isShort = isCut || shown.length < jobs.length;
  return [...lines, ...(isShort ? [`The run has more; these are the newest.`] : [])].join('\n');
}

let lastLogSeq = 0;

/** Rises within a job, over all processes of its tool. */
function nextLogSeq(): number {
  lastLogSeq = Math.max(lastLogSeq + 1, Date.now() * 1_000);
  return lastLogSeq;
}
