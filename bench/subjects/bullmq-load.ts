// BullMQ, called in the producer's own process, in two ways: `calls` does the same as the hub's
// load, add, take and complete in sequence; `consumer` is the usual way, with a consumer that takes
// jobs by itself, where a cycle ends when the completion of its job is acknowledged.
import { Queue, Worker } from 'bullmq';
import { runClosedLoop } from '../load/closed-loop.ts';
import type { LoadReport } from '../load/load-report.ts';
import { takeOrder } from '../load/order.ts';
import { prompt } from '../load/request-text.ts';
import { type Mark, Span } from '../load/span.ts';
import type { BullmqLoad } from './bullmq.ts';

interface Work {
  cycle: number;
  prompt: string;
}

const name = 'bench';
/** Concurrent jobs of the consumer; more had no benefit when measured. */
const CONCURRENCY = 64;

takeOrder<BullmqLoad>(async (spec, onMark) => {
  const queue = new Queue<Work>(name, { connection: connectionOf(spec) });
  await queue.waitUntilReady();
  try {
    return await (spec.manner === 'calls' ? call : consume)(queue, spec, onMark);
  } finally {
    await queue.close();
  }
});

async function call(
  queue: Queue<Work>,
  spec: BullmqLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const consumer = new Worker<Work>(name, null, {
    connection: connectionOf(spec),
    autorun: false,
  });
  await consumer.waitUntilReady();
  const done = new Set<string | undefined>();
  let cycle = 0;
  const report = await runClosedLoop(new Span(spec, onMark), spec, spec.inFlight, async () => {
    await queue.add('work', { cycle: ++cycle, prompt });
    const token = String(cycle);
    const job = await consumer.getNextJob(token, { block: false });
    if (job === undefined) throw new Error('a non-empty queue returned no job');
    if (done.has(job.id)) throw new Error(`job ${job.id} was granted twice`);
    done.add(job.id);
    await job.moveToCompleted(null, token, false);
  });
  await consumer.close();
  return report;
}

async function consume(
  queue: Queue<Work>,
  spec: BullmqLoad,
  onMark: (mark: Mark) => void,
): Promise<LoadReport> {
  const completions = new Map<number, () => void>();
  const consumer = new Worker<Work>(name, async () => null, {
    connection: connectionOf(spec),
    concurrency: CONCURRENCY,
  });
  const failed = Promise.withResolvers<never>();
  consumer.on('error', failed.reject);
  consumer.on('failed', (_job, error) => failed.reject(error));
  consumer.on('completed', ({ data }) => {
    const complete = completions.get(data.cycle);
    if (!complete) return failed.reject(new Error(`cycle ${data.cycle} was completed twice`));
    completions.delete(data.cycle);
    complete();
  });
  await consumer.waitUntilReady();
  let cycles = 0;
  const loop = runClosedLoop(new Span(spec, onMark), spec, spec.inFlight, async () => {
    const cycle = ++cycles;
    const completed = new Promise<void>((resolve) => completions.set(cycle, resolve));
    await queue.add('work', { cycle, prompt });
    await completed;
  });
  const report = await Promise.race([failed.promise, loop]);
  await consumer.close();
  return report;
}

function connectionOf({ redisPort }: BullmqLoad) {
  return { host: '127.0.0.1', port: redisPort };
}
