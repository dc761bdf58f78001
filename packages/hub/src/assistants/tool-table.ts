import {
  type Endpoint,
  endpoints,
  type Job,
  type RequestOf,
  type ResponseOf,
  type Uncertainty,
} from '@signalbox/contract';
import type { TObject } from 'typebox';

const { contextItems, jobs, repositories, uncertainties } = endpoints;

/** A tool of `/mcp`: one row of the endpoint table, for a model. */
export interface AssistantTool {
  readonly name: string;
  readonly description: string;
  readonly row: Endpoint;
  readonly effect: 'reads' | 'adds' | 'ends';
  /** Used where the call does not say otherwise, in place of the defaults of the row. */
  readonly presets?: object;
  /** The answer in the words of the hub. */
  state(answer: object): string;
  /** The texts of agents, tools, people and outsiders in the answer. */
  quote(answer: object): string;
}

interface ToolOf<Req extends TObject, Res extends TObject> {
  row: Endpoint<Req, Res>;
  presets?: Partial<RequestOf<Endpoint<Req, Res>>>;
  state(answer: ResponseOf<Endpoint<Req, Res>>): string;
  quote(answer: ResponseOf<Endpoint<Req, Res>>): string;
}

/** Checks a tool's types; does nothing at run time. */
function defineTool<Req extends TObject, Res extends TObject>(
  tool: Pick<AssistantTool, 'name' | 'description' | 'effect'> & ToolOf<Req, Res>,
): AssistantTool {
  // The answer of a call is that of its row, so the parameters of the functions fit.
  return tool;
}

const PAGE = 20;
const page = { limit: PAGE };
const LOG_LINES = 100;
/** So that the lines of a page fit. */
const LOG_LINE_CHARS_MAX = 180;
/** Of one text of a job, such as its prompt. */
const JOB_TEXT_CHARS_MAX = 4_000;

/** In a fixed order. The list is in the context of every call of a model, so words are few. */
export const assistantTools: readonly AssistantTool[] = [
  defineTool({
    name: 'what_waits',
    description: 'List questions of agents that wait for a person, the most urgent first.',
    row: uncertainties.inbox,
    effect: 'reads',
    presets: page,
    state: ({ uncertainties: waiting, nextCursor }) =>
      pageOf('Questions that wait', waiting.map(questionOf), nextCursor),
    quote: ({ uncertainties: waiting }) =>
      waiting.map(({ uncertaintyId, title }) => `${uncertaintyId}: ${title}`).join('\n'),
  }),
  defineTool({
    name: 'get_decision',
    description: 'Read one question: its choices, who asked, what waits for the answer.',
    row: uncertainties.get,
    effect: 'reads',
    state: ({ uncertainty, situation }) => {
      const { job, waitingJobs = 0 } = situation ?? {};
      const asked = job ? ` Job ${job.jobId} (${job.status}) asked.` : '';
      return `${questionOf(uncertainty)}.${asked} Jobs that wait for the answer: ${waitingJobs}.`;
    },
    quote: ({ uncertainty }) => wordsOf(uncertainty),
  }),
  defineTool({
    name: 'answer_decision',
    description:
      'Answer a question in the words of the person you work for. Approvals, risks and actions of ' +
      'tools are settled at the console only: then you get a link for the person.',
    row: uncertainties.addResolution,
    effect: 'adds',
    state: ({ uncertainty: { uncertaintyId }, idempotent }) =>
      `${uncertaintyId} is answered${idempotent ? ', by this call before' : ''}. ` +
      'The job that waits for it continues.',
    quote: () => '',
  }),
  defineTool({
    name: 'enqueue_job',
    description: 'Give work to an agent. Use kind work unless the person says otherwise.',
    row: jobs.enqueue,
    effect: 'adds',
    state: ({ job, variantJobIds = [] }) =>
      `Enqueued ${[...new Set([job.jobId, ...variantJobIds])].join(', ')}; ${job.status}.`,
    quote: () => '',
  }),
  defineTool({
    name: 'continue_job',
    description: 'Continue the work of an ended job, or leave a message for one that runs.',
    row: jobs.continue,
    effect: 'adds',
    state: ({ job, delivery }) =>
      delivery === 'round'
        ? `Enqueued ${job.jobId}, which continues the work.`
        : `Job ${job.jobId} is ${job.status} and keeps the message.`,
    quote: () => '',
  }),
  defineTool({
    name: 'get_job',
    description: 'Read a job: its state, why it waits, its result and checks.',
    row: jobs.get,
    effect: 'reads',
    state: ({ job, waitingFor }) =>
      `${jobOf(job)}. ${waitingFor === null ? '' : waitingFor.message}`.trim(),
    quote: ({ job, messages = [] }) => wordsOfJob(job, messages),
  }),
  defineTool({
    name: 'list_jobs',
    description: 'List jobs, newest first.',
    row: jobs.list,
    effect: 'reads',
    presets: { ...page, view: 'summary' },
    state: ({ jobs: listed, nextCursor }) => pageOf('Jobs', listed.map(jobOf), nextCursor),
    quote: ({ jobs: listed }) =>
      listed
        .map(({ jobId, title, failure }) => `${jobId}: ${title}${failure ? ` (${failure})` : ''}`)
        .join('\n'),
  }),
  defineTool({
    name: 'read_log',
    description: 'Read the output of a job: the last lines, or those from a line on.',
    row: jobs.log,
    effect: 'reads',
    presets: { limit: LOG_LINES },
    state: ({ attempt, totalLines, lines, nextLine, isEnded }) =>
      `Attempt ${attempt}: ${lines.length} of ${totalLines} lines, next line ${nextLine}` +
      `${isEnded ? '; it has ended' : ''}.`,
    quote: ({ lines }) =>
      lines.map(({ line, text }) => `${line} ${shorten(text, LOG_LINE_CHARS_MAX)}`).join('\n'),
  }),
  defineTool({
    name: 'cancel_job',
    description: 'Cancel a job. One that runs ends at its next heartbeat.',
    row: jobs.cancel,
    effect: 'ends',
    state: ({ job }) =>
      job.status === 'canceled'
        ? `${job.jobId} is canceled.`
        : `${job.jobId} is ${job.status} and will be canceled.`,
    quote: () => '',
  }),
  defineTool({
    name: 'search_context',
    description: 'Search what the workspace knows: notes, documents, decisions, messages.',
    row: contextItems.search,
    effect: 'reads',
    presets: page,
    state: ({ items, nextCursor }) =>
      pageOf(
        'Items that match',
        items.map(({ itemId, kind, trust }) => `${itemId} ${kind}, ${trust}`),
        nextCursor,
      ),
    quote: ({ items }) =>
      items.map(({ itemId, title, excerpt }) => `${itemId}: ${title}\n${excerpt}`).join('\n\n'),
  }),
  defineTool({
    name: 'list_repositories',
    description: 'List the repositories of the workspace, for repoId of other tools.',
    row: repositories.list,
    effect: 'reads',
    state: ({ repos, nextCursor }) =>
      pageOf(
        'Repositories',
        repos.map(({ repoId, status }) => `${repoId} ${status}`),
        nextCursor,
      ),
    quote: ({ repos }) => repos.map(({ repoId, label }) => `${repoId}: ${label}`).join('\n'),
  }),
];

function pageOf(what: string, lines: readonly string[], nextCursor: string | null): string {
  const more = nextCursor === null ? [] : ['More follow: call again with cursor nextCursor.'];
  return [`${what}: ${lines.length}.`, ...lines.map((line) => `- ${line}`), ...more].join('\n');
}

function questionOf({
  uncertaintyId,
  kind,
  status,
  waitingJobs,
}: Pick<Uncertainty, 'uncertaintyId' | 'kind' | 'status'> & {
  waitingJobs?: number | undefined;
}): string {
  const waiting = waitingJobs === undefined ? '' : `, waiting jobs: ${waitingJobs}`;
  return `${uncertaintyId} ${kind}, ${status}${waiting}`;
}

function jobOf({ jobId, kind, status }: Pick<Job, 'jobId' | 'kind' | 'status'>): string {
  return `${jobId} ${kind}, ${status}`;
}

function wordsOfJob(
  { prompt, message, outcomeReason, evidence }: Job,
  messages: readonly { text: string }[],
): string {
  const texts: [string, string | null][] = [
    ['Prompt', prompt],
    ['Result', message],
    ['Reason', jsonOf(outcomeReason)],
    ['Evidence', jsonOf(evidence)],
    ...messages.map((sent): [string, string] => ['Message', sent.text]),
  ];
  return texts
    .filter(([, text]) => text !== null && text !== '')
    .map(([name, text]) => `${name}: ${shorten(text ?? '', JOB_TEXT_CHARS_MAX)}`)
    .join('\n');
}

function jsonOf(value: unknown): string | null {
  if (value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;
}

function wordsOf({ prompt, context, options, recommendedValue, resolution }: Uncertainty): string {
  const choices = options.map(({ value, label }) => `- ${value}${label ? ` (${label})` : ''}`);
  return [
    prompt,
    context,
    ...(choices.length > 0 ? ['Choices:', ...choices] : []),
    ...(recommendedValue === null ? [] : [`Recommended: ${recommendedValue}`]),
    ...(resolution === null ? [] : [`Answered by ${resolution.createdBy}: ${resolution.value}`]),
  ]
    .filter(Boolean)
    .join('\n');
}
