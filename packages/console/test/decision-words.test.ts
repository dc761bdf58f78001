import { describe, expect, it } from 'vitest';
import {
  capText,
  choicesOf,
  confidenceWords,
  deadlineWords,
  sessionWords,
} from '../src/format/decision-words.ts';

const at = (ms: number) => new Date(ms).toISOString();

describe('the answers that a question offers', () => {
  const asked = { options: [], recommendedValue: null, assumedValue: '' };

  it('are its options, with the recommended and the assumed one marked', () => {
    const options = [{ value: 'yes', label: 'Report it' }, { value: 'no' }];
    const choices = choicesOf({ options, recommendedValue: 'yes', assumedValue: 'no' });
    expect(choices.map(({ isRecommended, isAssumed }) => [isRecommended, isAssumed])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('include a recommended and an assumed value that no option has', () => {
    const choices = choicesOf({ ...asked, recommendedValue: '9443', assumedValue: '8080' });
    expect(choices.map(({ value }) => value)).toEqual(['9443', '8080']);
  });

  it('are missing without options and values', () => {
    expect(choicesOf({ ...asked, recommendedValue: ' ' })).toEqual([]);
  });

  it('say what is sent where the label hides it', () => {
    const options = [{ value: 'drop everything', label: 'Keep it' }, { value: 'keep' }];
    expect(choicesOf({ ...asked, options }).map(({ sent }) => sent)).toEqual([
      'drop everything',
      null,
    ]);
  });

  it('show no hidden directions and no label without an end', () => {
    const label = `\u202eabc${'x'.repeat(1_000)}`;
    const [choice] = choicesOf({ ...asked, options: [{ value: 'v', label: label.slice(0, 200) }] });
    expect(choice?.label.startsWith('\ufffdabc')).toBe(true);
    expect(capText(label, 50).length).toBeLessThan(60);
  });
});

describe('the words of a decision', () => {
  it('compare the confidence with the threshold', () => {
    expect(confidenceWords({ confidence: 0.35, autoPromoteThreshold: 0.7 })).toBe(
      '35 %, asks below 70 %',
    );
    expect(confidenceWords({ confidence: 0, autoPromoteThreshold: 1 })).toBeNull();
  });

  it('count down to a deadline and say what happens then', () => {
    const deadlineAt = at(600_000);
    expect(deadlineWords({ deadlineAt, onDeadline: 'assume' }, 535_000)).toBe(
      'In 1:05; then the assumed value applies',
    );
    expect(deadlineWords({ deadlineAt, onDeadline: 'keep_waiting' }, 535_000)).toBe(
      'In 1:05; then it keeps waiting',
    );
    expect(deadlineWords({ deadlineAt, onDeadline: 'keep_waiting' }, 720_000)).toBe(
      'Passed 2 min ago; it still waits for an answer',
    );
    expect(deadlineWords({ deadlineAt, onDeadline: 'assume' }, 600_000)).toBe(
      'Passed: the assumed value is about to apply',
    );
    const session = { tool: 'codex', machine: 'ada-laptop', sessionId: 's1' } as const;
    expect(deadlineWords({ deadlineAt, onDeadline: 'keep_waiting', session }, 535_000)).toBe(
      'In 1:05; then the session asks at its terminal',
    );
    expect(sessionWords(session)).toBe('Codex on ada-laptop');
  });
});
