import type { OwnSession, Uncertainty, UncertaintyKind } from '@signalbox/contract';
import { plainText } from './text.ts';
import { formatCountdown, formatDuration } from './time.ts';

export const decisionKindWords: Readonly<Record<UncertaintyKind, string>> = {
  missing_fact: 'Missing fact',
  choice: 'Choice',
  constraint: 'Constraint',
  approval: 'Approval',
  config: 'Configuration',
  risk: 'Risk',
};

/** A possible answer, as the card offers it. */
export interface Choice {
  value: string;
  label: string;
  description: string;
  /** Shown when the label hides what is sent. */
  sent: string | null;
  isRecommended: boolean;
  isAssumed: boolean;
}

const LABEL_CHARS_MAX = 300;
const DESCRIPTION_CHARS_MAX = 1_000;

/** Cuts a text of an agent to a length that does not push the rest of the page away. */
export function capText(text: string, charsMax: number): string {
  const plain = plainText(text).trim();
  return plain.length > charsMax ? `${plain.slice(0, charsMax).toWellFormed().trimEnd()} …` : plain;
}

/** The answers that the question offers, the recommended and the assumed one among them. */
export function choicesOf(
  asked: Pick<Uncertainty, 'options' | 'recommendedValue' | 'assumedValue'>,
): Choice[] {
  const { options, recommendedValue, assumedValue } = asked;
  const offered = [...options];
  for (const value of [recommendedValue ?? '', assumedValue]) {
    const isKnown = offered.some((option) => option.value === value);
    if (value.trim() !== '' && !isKnown) offered.push({ value });
  }
  return offered.map(({ value, label = '', description = '' }) => {
    const shown = label.trim() === '' ? value : label;
    return {
      value,
      label: capText(shown, LABEL_CHARS_MAX),
      description: capText(description, DESCRIPTION_CHARS_MAX),
      sent: shown.trim() === value.trim() ? null : capText(value, LABEL_CHARS_MAX),
      isRecommended: value === recommendedValue,
      isAssumed: value === assumedValue && assumedValue !== '',
    };
  });
}

/** Confidence against the threshold, in words: `35 %, asks below 70 %`. */
export function confidenceWords(
  asked: Pick<Uncertainty, 'confidence' | 'autoPromoteThreshold'>,
): string | null {
  // Such a question has no assumption: its tool always asks.
  if (asked.confidence === 0 && asked.autoPromoteThreshold === 1) return null;
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  return `${percent(asked.confidence)}, asks below ${percent(asked.autoPromoteThreshold)}`;
}

const toolNames: Readonly<Record<OwnSession['tool'], string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
};

/** The tool and the machine of a session: `Claude Code on ada-laptop`. */
export function sessionWords({ tool, machine }: OwnSession): string {
  return `${toolNames[tool]} on ${plainText(machine) || 'a machine without a name'}`;
}

const HOUR_MS = 3_600_000;

/** The time to a deadline and what happens then; the deadline must exist. */
export function deadlineWords(
  asked: { deadlineAt: string } & Pick<Uncertainty, 'onDeadline' | 'session'>,
  nowMs: number,
): string {
  const leftMs = Date.parse(asked.deadlineAt) - nowMs;
  const assumes = asked.onDeadline === 'assume';
  if (leftMs <= 0) {
    return assumes
      ? 'Passed: the assumed value is about to apply'
      : `Passed ${formatDuration(-leftMs)} ago; it still waits for an answer`;
  }
  const left = leftMs < HOUR_MS ? formatCountdown(leftMs) : formatDuration(leftMs);
  if (asked.session) return `In ${left}; then the session asks at its terminal`;
  return `In ${left}; then ${assumes ? 'the assumed value applies' : 'it keeps waiting'}`;
}
