import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, runLoadScript } from '../load-process.ts';
import type { RedisServer } from './redis.ts';

export interface BullmqLoad extends SpanSpec {
  readonly redisPort: number;
  readonly inFlight: number;
  readonly manner: 'calls' | 'consumer';
}

/** Measures complete cycles of BullMQ with a Redis that syncs before it answers. */
export function measureBullmq(
  { port, child }: RedisServer,
  load: Omit<BullmqLoad, 'redisPort'>,
): Promise<LoadResult> {
  const spec: BullmqLoad = { ...load, redisPort: port };
  return runLoadScript('subjects/bullmq-load.ts', spec, { redis: child.pid });
}
