import type { AskedAction, RuleScope } from '@signalbox/contract';

/** The questions that a rule answers. */
export interface RuleShape {
  scope: RuleScope;
  repoId: string;
  runId: string | null;
  jobId: string | null;
  kind: string;
  words: readonly string[];
  /** Commands that begin with the words; otherwise exactly these words. */
  isPrefix: boolean;
}

/** The action that a question is about, and where it was asked. */
export interface AskedPlace {
  repoId: string | null;
  runId: string | null;
  jobId: string | null;
  action: Pick<AskedAction, 'kind' | 'words'>;
}

/** The kind of actions whose words are those of a command line. */
export const COMMAND_KIND = 'execute';

/**
 * Whether a rule answers a question: every part of the rule has to agree, and a rule of any scope
 * stays in its repository. Words are compared as a whole, so that no character of a command has a
 * meaning here.
 */
export function isAnsweredBy(rule: RuleShape, asked: AskedPlace): boolean {
  return isInScope(rule, asked) && isSameAction(rule, asked.action);
}

function isInScope(rule: RuleShape, asked: AskedPlace): boolean {
  if (rule.repoId !== asked.repoId) return false;
  if (rule.scope === 'repository') return true;
  if (rule.scope === 'run') return rule.runId !== null && rule.runId === asked.runId;
  return rule.jobId !== null && rule.jobId === asked.jobId;
}

function isSameAction(rule: RuleShape, { kind, words }: AskedPlace['action']): boolean {
  if (rule.kind !== kind) return false;
  const isPrefix = rule.isPrefix && kind === COMMAND_KIND;
  if (isPrefix ? words.length < rule.words.length : words.length !== rule.words.length)
    return false;
  return rule.words.every((word, at) => word === words[at]);
}
