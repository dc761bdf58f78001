// graphile-worker, called in the producer's own process: jobs are added, and its own loop runs many
// at a time; a cycle ends when it reports a job as complete. It deletes the job at the same time,
// without waiting for the database.
import { Logger, run } from 'graphile-worker';
import { runClosedLoop } from '../load/closed-loop.ts';
import { takeOrder } from '../load/order.ts';
import { prompt } from '../load/request-text.ts';
import { Span } from '../load/span.ts';
import type { PostgresPeerLoad } from './postgres-peers.ts';

interface Work {
  cycle: number;
}

/** Concurrent jobs. */
const CONCURRENCY = 64;

const inGroups = {
  localQueue: { size: CONCURRENCY },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

takeOrder<PostgresPeerLoad>(async (spec, onMark) => {
  const runner = await run({
    connectionString: spec.connectionString,
    maxPoolSize: spec.poolSize,
    concurrency: CONCURRENCY,
    ...(spec.hasLocalQueue ? { preset: { worker: inGroups } } : {}),
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    crontab: '',
    taskList: { work: async () => undefined },
  });
  const completions = new Map<number, () => void>();
  const failed = Promise.withResolvers<never>();
  runner.events.on('job:error', ({ error }) => failed.reject(error));
  runner.events.on('job:complete', ({ job }) => {
    const { cycle } = job.payload as Work;
    const complete = completions.get(cycle);
    if (!complete) return failed.reject(new Error(`cycle ${cycle} was completed twice`));
    completions.delete(cycle);
    complete();
  });
  let cycles = 0;
  const loop = runClosedLoop(new Span(spec, onMark), spec, spec.inFlight, async () => {
    const cycle = ++cycles;
    const completed = new Promise<void>((resolve) => completions.set(cycle, resolve));
    await runner.addJob('work', { cycle, prompt });
    await completed;
  });
  const report = await Promise.race([failed.promise, loop]);
  await runner.stop();
  return report;
});
