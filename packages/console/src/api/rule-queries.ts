import type { RequestOf } from '@signalbox/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type ConsoleRows, callHub } from './hub-call.ts';

/** The questions that a rule is to answer. */
export type RuleDraft = RequestOf<ConsoleRows['decisionRules']['preview']>;

/** The rules that answer questions of a workspace. */
export function rulesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['decision-rules', workspaceId],
    queryFn: ({ signal }) => callHub('decisionRules', 'list', { workspaceId }, signal),
  });
}

/** The past questions that a rule would have answered. */
export function rulePreviewQuery(draft: RuleDraft) {
  return queryOptions({
    queryKey: ['decision-rule-preview', draft],
    queryFn: ({ signal }) => callHub('decisionRules', 'preview', draft, signal),
    placeholderData: keepPreviousData,
  });
}
