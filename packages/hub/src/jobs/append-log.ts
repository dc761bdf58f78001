import type { endpoints, RequestInput } from '@signalbox/contract';
import type { HubDeps } from '../hub-deps.ts';
import type { RequestContext } from '../principal.ts';
import { requireClaim } from '../queue/leased-work.ts';
import { updateRunning } from '../queue/store.ts';
import { requireJobOfAgent } from './require-job.ts';
import { recordJobEvent } from './store-events.ts';

type AppendInput = RequestInput<typeof endpoints.jobEvents.append.request>;

/**
 * Appends output to the timeline. Skips entries that are already there, so a repeated call is
 * harmless.
 *
 * @throws HubError JOB_NOT_FOUND, AGENT_NOT_FOUND, or a refusal of `checkClaim`
 */
export function appendJobLog(
  deps: HubDeps,
  { principal }: RequestContext,
  input: AppendInput,
): Promise<{ appended: number; lastLogSeq: number }> {
  const { workspaceId, jobId } = input;
  return deps.database.writeConcurrent({ workspaceId, keys: [jobId] }, async (tx) => {
    const { entry } = await requireJobOfAgent(tx, principal, input);
    requireClaim(entry, input);
    let lastLogSeq = entry.log_seq;
    let appended = 0;
    for (const log of input.entries) {
      if (log.logSeq <= lastLogSeq) continue;
      await recordJobEvent(deps, tx, entry, {
        kind: 'log',
        message: log.message,
        data: {
          logSeq: log.logSeq,
          ...(log.stream === undefined ? {} : { stream: log.stream }),
          ...(log.at === undefined ? {} : { at: log.at }),
        },
      });
      lastLogSeq = log.logSeq;
      appended += 1;
    }
    if (appended > 0) await updateRunning(tx, entry, { log_seq: lastLogSeq });
    return { appended, lastLogSeq };
  });
}
