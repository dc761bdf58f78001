import { parentPort, workerData } from 'node:worker_threads';
import type { Computation, Order, Reply, ThreadStart } from './side-thread.ts';
import { yieldToEventLoop } from './thread-priority.ts';

/* The thread of `SideThread`: runs one computation after the other. */

if (parentPort === null) throw new Error('this file runs as a worker thread only');
const port = parentPort;
// `SideThread` starts this thread with it.
if (!(workerData as ThreadStart).isUrgent) yieldToEventLoop();

port.on('message', (order: Order) => {
  compute(order).then(
    (output) => port.postMessage({ output } satisfies Reply),
    (error: unknown) => port.postMessage({ failure: String(error) } satisfies Reply),
  );
});

async function compute({ module, name, input }: Order): Promise<unknown> {
  const exported = (await import(module)) as Record<string, Computation<unknown, unknown>>;
  const computation = exported[name];
  if (computation === undefined) throw new Error(`${module} does not export ${name}`);
  return computation.compute(input);
}
