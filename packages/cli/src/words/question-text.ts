import type {
  DecisionSituation,
  ListedUncertainty,
  Uncertainty,
  UncertaintyKind,
} from '@signalbox/contract';
import { formatDuration } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { alignTables } from '../terminal/markdown-table.ts';
import { printFields } from '../terminal/table.ts';
import { cleanText, oneLine, truncateText, wrapLine } from '../terminal/text.ts';
import { shortId } from './job-text.ts';

export const kindWords: Readonly<Record<UncertaintyKind, string>> = {
  missing_fact: 'fact',
  choice: 'choice',
  constraint: 'constraint',
  approval: 'approval',
  config: 'config',
  risk: 'risk',
};

/** A possible answer, as it is offered to a person. */
export interface Choice {
  value: string;
  /** One safe line. */
  label: string;
  description: string;
  isRecommended: boolean;
  isAssumed: boolean;
}

/** Of a label; a longer one would push the others off the screen. */
const LABEL_WIDTH_MAX = 200;

/** The answers that a question offers, the recommended and the assumed one among them. */
export function choicesOf(
  asked: Pick<Uncertainty, 'options' | 'recommendedValue' | 'assumedValue'>,
): Choice[] {
  const { options, recommendedValue, assumedValue } = asked;
  const offered = [...options];
  for (const value of [recommendedValue ?? '', assumedValue]) {
    const isKnown = offered.some((option) => option.value === value);
    if (value.trim() !== '' && !isKnown) offered.push({ value });
  }
  return offered.map(({ value, label = '', description = '' }) => ({
    value,
    label: labelOf(value, label),
    description: truncateText(oneLine(description), LABEL_WIDTH_MAX),
    isRecommended: value === recommendedValue,
    isAssumed: value === assumedValue && assumedValue !== '',
  }));
}

/** Shows the value too if the label hides what is sent. */
function labelOf(value: string, label: string): string {
  const sent = oneLine(value);
  const shown = oneLine(label);
  const whole = shown === '' || shown === sent ? sent : `${shown} (${sent})`;
  return truncateText(whole, LABEL_WIDTH_MAX);
}

/** A question in a row: `36 × Which region?` for alike ones. */
export function questionLine({ title, alikeIds = [] }: ListedUncertainty): string {
  const line = oneLine(title);
  return alikeIds.length === 0 ? line : `${alikeIds.length + 1} × ${line}`;
}

/** The time to a deadline: `2h`, or `overdue`; null without a deadline. */
export function deadlineText(
  { deadlineAt }: { deadlineAt?: string | null },
  nowMs: number,
): string | null {
  if (!deadlineAt) return null;
  const leftMs = Date.parse(deadlineAt) - nowMs;
  return leftMs <= 0 ? 'overdue' : formatDuration(leftMs);
}

/** Prints the whole question, and what a person needs to judge it. */
export function printQuestion(
  io: Io,
  asked: Uncertainty,
  situation: DecisionSituation | null,
): void {
  const { yellow, bold, dim } = io.styles;
  io.print(`${yellow(`◆ ${kindWords[asked.kind]}`)}  ${bold(asked.uncertaintyId)}`);
  printText(io, asked.prompt);
  if (asked.context.trim() !== '') {
    io.print();
    io.print(dim('Context'));
    printText(io, asked.context);
  }
  // A tool that always asks assumes nothing.
  const asksAlways = asked.confidence === 0 && asked.autoPromoteThreshold === 1;
  io.print();
  printFields(io, [
    ...situationFields(situation),
    [
      'Session',
      asked.session ? `${asked.session.tool} on ${oneLine(asked.session.machine)}` : null,
    ],
    ['Confidence', asksAlways ? null : `${Math.round(asked.confidence * 100)} %`],
    ['Impact', oneLine(asked.impact) || null],
    ['Reversible', oneLine(asked.reversibility) || null],
    ['Assumed', oneLine(asked.assumedValue) || null],
    ['Because', oneLine(asked.assumedReasoning) || null],
    ['Deadline', deadlineWords(asked)],
  ]);
  io.print();
}

function situationFields(situation: DecisionSituation | null): [string, string | null][] {
  if (situation === null) return [];
  const { job, agent, repository, waitingJobs, writtenBy } = situation;
  const name = oneLine(situation.writtenByName ?? '');
  const author = { tool: 'a coding tool', person: 'a machine of a person', service: 'a service' };
  return [
    ['Asked by', `${author[writtenBy]}${name === '' ? '' : `, ${name}`}`],
    ['Repository', repository && (oneLine(repository.label) || repository.repoId)],
    ['Job', job === null ? null : `${shortId(job.jobId)} (${job.status}) ${oneLine(job.title)}`],
    ['Agent', agent === null ? null : `${oneLine(agent.displayName)} (${agent.status})`],
    ['Waits', waitingJobs === 0 ? null : `${waitingJobs} job${waitingJobs === 1 ? '' : 's'}`],
  ];
}

function deadlineWords(asked: Uncertainty): string | null {
  const left = deadlineText(asked, Date.now());
  if (left === null) return null;
  const then = afterDeadline(asked);
  return left === 'overdue' ? `overdue: ${then}` : `in ${left}; then ${then}`;
}

function afterDeadline({ session, onDeadline }: Uncertainty): string {
  if (session) return 'the session asks at its terminal';
  return onDeadline === 'assume' ? 'the assumed value applies' : 'it keeps waiting';
}

const MARGIN = '  ';

/**
 * Prints a text of several lines, indented and within the width of the terminal. Tables are
 * aligned; all else is as it was written, since a person may approve a command by it.
 */
export function printText(io: Io, text: string): void {
  const width = io.columns - MARGIN.length;
  for (const line of alignTables(cleanText(text).trimEnd().split('\n'), width)) {
    for (const part of wrapLine(line, width)) {
      io.print(`${MARGIN}${part}`.trimEnd());
    }
  }
}
