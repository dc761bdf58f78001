import { TEXT_CHARS_MAX } from '@signalbox/contract';
import type { UncertaintyRow } from './store.ts';
import type { ResolutionRow } from './store-resolutions.ts';

/** Together with the sentences around them, these stay below the limit of a prompt. */
const ANSWER_CHARS_MAX = 100_000;
const QUESTION_CHARS_MAX = 50_000;
const ASSUMED_CHARS_MAX = 10_000;

/** Composes the prompt of an `apply_decision` job (docs/reference/protocol.md, section 5.3). */
export function composeApplication(uncertainty: UncertaintyRow, resolution: ResolutionRow): string {
  const { mode, value } = resolution;
  const before = [
    mode === 'answered'
      ? 'A question of this run was answered. Make the repository follow the answer.'
      : 'A question of this run was not answered in time, so the assumed answer is valid. ' +
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
  // The cut may split a surrogate pair, which is not valid in JSON.
  return text.slice(0, charsMax - mark.length).toWellFormed() + mark;
}
