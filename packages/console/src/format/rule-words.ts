import type { AskedAction, DecisionRule, Resolution, RuleScope } from '@signalbox/contract';
import { plainText } from './text.ts';

/** Fewer would leave the choice of what the program does to the tool. */
const PREFIX_WORDS_MIN = 2;

const verbs: Readonly<Record<string, string>> = {
  execute: 'run',
  edit: 'change',
  delete: 'delete',
  read: 'read',
  fetch: 'fetch',
};

export const scopeWords: Readonly<Record<RuleScope, string>> = {
  job: 'this job',
  run: 'this run',
  repository: 'this repository',
};

/** Whether an answer can become a rule: it allows or refuses the action once. */
export function canBeRule(action: AskedAction | undefined, { mode, value }: Resolution): boolean {
  return action !== undefined && mode === 'answered' && isOneOf(value, action);
}

function isOneOf(value: string, { allow, refuse }: AskedAction): boolean {
  return value === allow || value === refuse;
}

/** The actions that a rule answers: `run npm run migrate …`. */
export function actionWords(
  kind: string,
  words: readonly string[],
  prefixWords: number | undefined,
): string {
  const named = words.slice(0, prefixWords).map(quoted).join(' ');
  return `${verbs[kind] ?? kind} ${plainText(named)}${prefixWords === undefined ? '' : ' …'}`;
}

/** As a shell would read them again; one text that is no list of words stays as it is. */
function quoted(word: string, _at: number, words: readonly string[]): string {
  return words.length === 1 || /^[^\s'"]+$/.test(word) ? word : `'${word}'`;
}

/** How many words of a command a rule may begin with, the most first. */
export function prefixesOf({ kind, words }: Pick<AskedAction, 'kind' | 'words'>): number[] {
  if (kind !== 'execute') return [];
  const counts = words.map((_, at) => at + 1).reverse();
  return counts.filter((count) => count >= PREFIX_WORDS_MIN);
}

export function ruleSentence({ verdict, kind, words, prefixWords }: DecisionRule): string {
  const word = verdict === 'allow' ? 'Allow' : 'Refuse';
  return `${word} to ${actionWords(kind, words, prefixWords)}`;
}
