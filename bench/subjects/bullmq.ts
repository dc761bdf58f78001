import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, runLoadScript } from '../load-process.ts';
import { startRedis } from './redis.ts';

export interface BullmqLoad extends SpanSpec {
  readonly redisPort: number;
  readonly inFlight: number;
  readonly manner: 'calls' | 'consumer';
}

/** Measures complete cycles of BullMQ with a new Redis that syncs before it answers. */
export async function measureBullmq(
  directory: string,
  load: Omit<BullmqLoad, 'redisPort'>,
): Promise<LoadResult> {
  const { port: redisPort, child } = await startRedis(directory);
  try {
    const spec: BullmqLoad = { ...load, redisPort };
    return await runLoadScript('subjects/bullmq-load.ts', spec, { redis: child.pid });
  } finally {
    await child.stop();
  }
}
