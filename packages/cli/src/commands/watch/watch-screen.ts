import type { ListedJob } from '@signalbox/contract';
import { formatAge } from '../../terminal/duration.ts';
import type { Styles } from '../../terminal/io.ts';
import { cleanText, oneLine, padText, truncateText, wrapLine } from '../../terminal/text.ts';
import { callLine } from '../../words/activity-text.ts';
import { decisionLines, listedStatus, reasonText, shortId } from '../../words/job-text.ts';
import { deadlineText, kindWords, questionLine } from '../../words/question-text.ts';
import type { WatchData } from './watch-feed.ts';
import {
  type OpenJob,
  type OpenQuestion,
  rowsAfterChoices,
  selectedIndex,
  type WatchState,
} from './watch-state.ts';

export interface ScreenSize {
  columns: number;
  rows: number;
}

interface Frame extends ScreenSize {
  styles: Styles;
  nowMs: number;
  workspace: string;
}

/** The lines of the whole screen, each shorter than its width, and no more than its height. */
export function renderScreen(data: WatchData, state: WatchState, frame: Frame): string[] {
  // The last column stays free: a terminal would wrap there.
  const inner = { ...frame, columns: frame.columns - 1 };
  const head = headOf(data, inner);
  const foot = footOf(state, inner);
  const rowsMax = Math.max(0, frame.rows - head.length - foot.length);
  const body = bodyOf(data, state, { ...inner, rows: rowsMax });
  const filled = [...body.slice(0, rowsMax), ...Array<string>(rowsMax).fill('')].slice(0, rowsMax);
  return [...head, ...filled, ...foot].slice(0, frame.rows);
}

function bodyOf(data: WatchData, state: WatchState, frame: Frame): string[] {
  if (state.job !== null) return openJobOf(state.job, frame);
  return state.open === null ? listOf(data, state, frame) : questionOf(state.open, frame);
}

function headOf(
  { questions, counts: jobCounts, capped }: WatchData,
  { styles, workspace, columns }: Frame,
): string[] {
  const count = (status: ListedJob['status']) =>
    `${jobCounts[status].toLocaleString('en')}${capped.includes(status) ? '+' : ''}`;
  const counts = [
    `${count('running')} running`,
    `${count('pending')} waiting`,
    `${count('blocked')} blocked`,
    `${count('failed')} failed`,
  ].join(' · ');
  const open = questions.reduce((sum, { alikeIds = [] }) => sum + 1 + alikeIds.length, 0);
  const asked = `${open} question${open === 1 ? '' : 's'}`;
  const line = truncateText(`${workspace}  ${counts} · ${asked}`, columns);
  return [styles.bold(line), ''];
}

function footOf({ open, job, message }: WatchState, { styles, columns }: Frame): string[] {
  let keys = '↑↓ choose · Tab: questions or jobs · Enter opens · q ends';
  if (job !== null) keys = '↑↓ or Space scrolls · Esc goes back';
  if (open !== null) keys = '↑↓ or 1–9 choose · Enter answers · Space scrolls · Esc goes back';
  if (open?.typed != null) keys = 'Enter sends your answer · Esc goes back';
  return [
    styles.yellow(truncateText(oneLine(message), columns)),
    styles.dim(truncateText(keys, columns)),
  ];
}

function listOf(data: WatchData, state: WatchState, frame: Frame): string[] {
  const { styles, columns, nowMs, rows } = frame;
  const { questions } = data;
  const at = selectedIndex(state, data);
  // Questions come first, but jobs keep some lines.
  const shown = Math.min(questions.length, Math.max(1, Math.floor(rows / 2) - 1));
  const first = Math.max(0, Math.min(at - shown + 1, questions.length - shown));
  const jobAt = at - questions.length;
  const lines = questions.slice(first, first + shown).map((each, index) => {
    const isSelected = first + index === at;
    const age = formatAge(each.createdAt, nowMs).padStart(4);
    const due = deadlineText(each, nowMs);
    const end = `${due === null ? '' : `  ${due}`}  ${age}`;
    const begin = `${isSelected ? '▸' : ' '} ${shortId(each.uncertaintyId)}  `;
    const width = columns - begin.length - end.length;
    const title = padText(
      truncateText(`${kindWords[each.kind]}: ${questionLine(each)}`, width),
      width,
    );
    const line = truncateText(begin + title + end, columns);
    return isSelected ? styles.bold(styles.cyan(line)) : line;
  });
  const none = [styles.dim('  No open questions.')];
  return [
    styles.dim('QUESTIONS'),
    ...(lines.length === 0 ? none : lines),
    '',
    styles.dim('JOBS'),
    ...(data.jobs.length === 0 ? [styles.dim('  No jobs yet.')] : []),
    ...jobLines(data, jobAt, { ...frame, rows: rows - Math.max(1, lines.length) - 3 }),
  ];
}

/** The jobs from the first one on, or from where the chosen one is in sight. */
function jobLines(data: WatchData, chosenAt: number, frame: Frame): string[] {
  const all = data.jobs.map((job, at) => [
    jobLine(job, frame, at === chosenAt),
    ...callLines(job, data, frame),
  ]);
  let first = 0;
  const heightTo = (end: number) => all.slice(first, end + 1).flat().length;
  while (first < chosenAt && heightTo(chosenAt) > frame.rows) first += 1;
  return all.slice(first, first + Math.max(1, frame.rows)).flat();
}

const STATUS_WIDTH = 12;

function jobLine(job: ListedJob, { styles, columns, nowMs }: Frame, isSelected: boolean): string {
  const { text: status, style } = listedStatus(styles, job);
  const age = formatAge(job.createdAt, nowMs).padStart(4);
  const id = shortId(job.jobId);
  const width = columns - 2 - STATUS_WIDTH - 2 - id.length - 2 - 2 - age.length;
  const title = padText(truncateText(oneLine(job.title), Math.max(1, width)), Math.max(1, width));
  const shown = padText(truncateText(status, STATUS_WIDTH), STATUS_WIDTH);
  const mark = isSelected ? '▸' : ' ';
  const line = `${mark} ${style(shown)}  ${id}  ${title}  ${styles.dim(age)}`;
  return isSelected ? styles.bold(line) : line;
}

/** Below a running job, what its tool does; below a failed one, why it failed. */
function callLines(job: ListedJob, { calls }: WatchData, { styles, columns }: Frame): string[] {
  // Below the ID of the job, where there is space.
  const margin = ' '.repeat(columns < 60 ? 4 : 2 + STATUS_WIDTH + 2);
  if (job.failure !== undefined) {
    return [margin + styles.red(truncateText(oneLine(job.failure), columns - margin.length))];
  }
  const call = job.status === 'running' ? calls.get(job.jobId) : undefined;
  if (call === undefined) return [];
  const width = columns - margin.length - 2;
  const look = 'dim';
  return [
    `${margin}→ ${callLine(styles, { text: call.title, call, isEnded: false, width, look })}`,
  ];
}

function openJobOf({ job, scrolled }: OpenJob, { styles, columns, rows }: Frame): string[] {
  const { text: status, style } = listedStatus(styles, job);
  const result = job.message ?? reasonText(job.outcomeReason) ?? '';
  const text = [
    ...wrapped(job.prompt, columns),
    ...(result.trim() === '' ? [] : ['', ...wrapped(result, columns)]),
    ...decisionLines(job).flatMap((line) => ['', ...wrapped(line, columns)]),
  ];
  const space = Math.max(1, rows - 2);
  const first = Math.min(scrolled, Math.max(0, text.length - space));
  const rest = text.length - first - space;
  const more = rest > 0 ? styles.dim(`  … ${rest} more lines: Space`) : '';
  const head = truncateText(`${status}  ${shortId(job.jobId)}`, columns);
  return [style(head), ...text.slice(first, first + space), more];
}

function questionOf(open: OpenQuestion, { styles, columns, rows }: Frame): string[] {
  const { asked, choices, row, typed } = open;
  const answers = [
    ...choices.map(({ label, description, isRecommended, isAssumed }) => {
      const mark = isRecommended ? ' [recommended]' : '';
      const more = description === '' ? '' : ` – ${description}`;
      return `${label}${mark}${isAssumed ? ' [assumed]' : ''}${more}`;
    }),
    ...rowsAfterChoices,
  ].map((text, index) => {
    const line = truncateText(`${index === row ? '▸' : ' '} ${index + 1}  ${text}`, columns);
    return index === row ? styles.bold(styles.cyan(line)) : line;
  });
  const below = typed === null ? answers : [styles.bold(endOf(`Your answer: ${typed}`, columns))];
  const head = `◆ ${kindWords[asked.kind]}  ${shortId(asked.uncertaintyId)}`;
  const context = asked.context.trim() === '' ? '' : `\n\n${asked.context}`;
  const text = wrapped(asked.prompt + context, columns);
  const space = Math.max(1, rows - below.length - 3);
  const first = Math.min(open.scrolled, Math.max(0, text.length - space));
  const visible = text.slice(first, first + space);
  const rest = text.length - first - visible.length;
  const more = rest > 0 ? styles.dim(`  … ${rest} more lines: Space`) : '';
  return [styles.yellow(truncateText(head, columns)), ...visible, more, ...below];
}

/** The end of a line that is being written stays in view. */
function endOf(text: string, columns: number): string {
  const chars = [...`${text}▏`];
  return chars.length <= columns ? chars.join('') : `…${chars.slice(1 - columns).join('')}`;
}

function wrapped(text: string, columns: number): string[] {
  const lines = cleanText(text).trimEnd().replaceAll('\t', '    ').split('\n');
  return lines.flatMap((line) => wrapLine(line, columns - 2).map((part) => `  ${part}`.trimEnd()));
}
