import type { AlikeResult } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../../api/hub-call.ts';
import { randomKey } from '../../format/random-key.ts';
import { showToast } from '../dialog/toast.ts';
import { refreshDecisions, UNDO_MS } from './use-decision.ts';

/** Gives alike questions one answer, and offers to take it back. */
export function useAlike(workspaceId: string) {
  const client = useQueryClient();
  const refresh = () => refreshDecisions(client, workspaceId);
  const withdraw = async (results: readonly AlikeResult[]) => {
    const given = results.flatMap(({ uncertaintyId, resolutionId }) =>
      resolutionId === undefined ? [] : [{ workspaceId, uncertaintyId, resolutionId }],
    );
    const ends = await Promise.allSettled(
      given.map((each) => callHub('uncertainties', 'withdrawResolution', each)),
    );
    const kept = ends.filter(({ status }) => status === 'rejected').length;
    if (kept > 0) showToast({ title: `${kept} of ${given.length} answers stay`, tone: 'bad' });
    await refresh();
  };
  return useMutation({
    mutationFn: ({ ids, value }: { ids: readonly string[]; value: string }) =>
      callHub('uncertainties', 'resolveAlike', {
        workspaceId,
        uncertaintyIds: [...ids],
        mode: 'answered',
        value,
        confidence: 1,
        undoMs: UNDO_MS,
        idempotencyKey: randomKey(),
      }),
    onSuccess: ({ results }) => {
      const refused = results.filter(({ result }) => result === 'refused').length;
      showToast({
        title: `Answered ${results.length - refused} questions`,
        ...(refused > 0 && { detail: `${refused} had an answer already` }),
        undo: () => void withdraw(results),
      });
    },
    onSettled: refresh,
  });
}
