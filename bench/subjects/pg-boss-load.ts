// pg-boss, called in the producer's own process: concurrent cycles of send, fetch and complete.
import { PgBoss } from 'pg-boss';
import { runClosedLoop } from '../load/closed-loop.ts';
import { takeOrder } from '../load/order.ts';
import { prompt } from '../load/request-text.ts';
import { Span } from '../load/span.ts';
import type { PostgresPeerLoad } from './postgres-peers.ts';

const queue = 'bench';

takeOrder<PostgresPeerLoad>(async (spec, onMark) => {
  const { connectionString, poolSize, inFlight, batchSize } = spec;
  const boss = new PgBoss({ connectionString, max: poolSize });
  const failed = Promise.withResolvers<never>();
  boss.on('error', failed.reject);
  await boss.start();
  await boss.createQueue(queue);
  const done = new Set<string>();
  const cycle = async () => {
    const drafts = Array.from({ length: batchSize }, () => ({ data: { prompt } }));
    const [draft] = drafts;
    if (batchSize === 1) await boss.send(queue, draft?.data);
    else await boss.insert(queue, drafts);
    for (let missing = batchSize; missing > 0; ) {
      const jobs = await boss.fetch(queue, { batchSize: missing });
      const ids = jobs.map(({ id }) => id);
      if (ids.some((id) => done.has(id))) throw new Error('a job was granted twice');
      for (const id of ids) done.add(id);
      if (ids.length > 0) await boss.complete(queue, ids);
      missing -= ids.length;
    }
  };
  const loop = runClosedLoop(new Span(spec, onMark), spec, inFlight, cycle);
  const report = await Promise.race([failed.promise, loop]);
  await boss.stop({ graceful: false });
  return { ...report, count: report.count * batchSize };
});
