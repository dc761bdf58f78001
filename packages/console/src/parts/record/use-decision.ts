import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { type DecisionView, decisionQuery } from '../../api/decision-queries.ts';
import { callHub } from '../../api/hub-call.ts';
import { randomKey } from '../../format/random-key.ts';

/** How long an answer of the console can be withdrawn (docs/decisions/0034). */
export const UNDO_MS = 5_000;

export interface DraftAnswer {
  mode: 'answered' | 'dismissed';
  value: string;
  supersede: boolean;
}

interface DecisionRef {
  workspaceId: string;
  uncertaintyId: string;
}

/** Sends answers to one question, and takes them back. */
export function useDecision(ref: DecisionRef) {
  const client = useQueryClient();
  const { queryKey } = decisionQuery(ref.workspaceId, ref.uncertaintyId);
  const sent = useRef<{ draft: string; key: string }>(undefined);
  const show = (uncertainty: DecisionView['uncertainty']) =>
    client.setQueryData<DecisionView>(queryKey, (now) => now && { ...now, uncertainty });

  const answer = useMutation({
    mutationFn: async (draft: DraftAnswer) => {
      // The same answer again is the same call, in case that the hub's reply was lost.
      const text = JSON.stringify(draft);
      if (sent.current?.draft !== text) sent.current = { draft: text, key: randomKey() };
      const body = { ...ref, ...draft, confidence: 1, undoMs: UNDO_MS };
      return callHub('uncertainties', 'addResolution', {
        ...body,
        idempotencyKey: sent.current.key,
      });
    },
    onSuccess: ({ uncertainty }) => {
      sent.current = undefined;
      show(uncertainty);
    },
    onSettled: () => refreshDecisions(client, ref.workspaceId),
  });
  const withdraw = useMutation({
    mutationFn: (resolutionId: string) =>
      callHub('uncertainties', 'withdrawResolution', { ...ref, resolutionId }),
    onSuccess: ({ uncertainty }) => show(uncertainty),
    onSettled: () => refreshDecisions(client, ref.workspaceId),
  });
  return { answer, withdraw };
}

/** Reads again all that an answer changes: lists, counts, the question and the job that asked. */
export function refreshDecisions(client: QueryClient, workspaceId: string): Promise<unknown> {
  const keys = ['uncertainties', 'uncertainty-counts', 'uncertainty', 'job', 'jobs', 'job-counts'];
  return Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key, workspaceId] })));
}
