import { TEXT_CHARS_MAX } from '@signalbox/contract';
import type { UncertaintyRow } from './store.ts';
import type { ResolutionRow } from './store-resolutions.ts';

/** Together with the sentences around them, these stay below what a prompt may hold. */
const ANSWER_CHARS_MAX = 100_000;
const QUESTION_CHARS_MAX = 50_000;
const ASSUMED_CHARS_MAX = 10_000;

/** What a job is told that is to apply an answer (contract, section 5). */
export function composeApplication(uncertainty: UncertaintyRow, resolution: ResolutionRow): string {
  const { mode, value } = resolution;
  const before = [
    mode === 'answered'
      ? 'A question of this run was answered. Make the repository follow the answer.'
      : 'Nobody answered a question of this run in time, so the assumed answer stands. ' +
        'Make the repository follow it.',
    `Question:\n${cut(uncertainty.prompt, QUESTION_CHARS_MAX)}`,
    `Answer (${mode}):\n${cut(value, ANSWER_CHARS_MAX)}`,
    `Assumed so far:\n${cut(uncertainty.assumed_value, ASSUMED_CHARS_MAX)}`,
    `Uncertainty: ${uncertainty.uncertainty_id}`,
  ].join('\n\n');
  if (uncertainty.context === '') return before;
  const label = '\n\nContext:\n';
  const contextChars = TEXT_CHARS_MAX - before.length - label.length;
  return before + label + cut(uncertainty.context, contextChars);
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const mark = '… (cut: uncertainties/get has it whole)';
  // A cut may split a pair of surrogates, which no JSON reader likes.
  return text.slice(0, charsMax - mark.length).toWellFormed() + mark;
}
