import { Worker } from 'node:worker_threads';
import type { Format } from './document-format.ts';
import type { ExtractionOrder, ExtractOutcome } from './extract-outcome.ts';

export interface ExtractorLimits {
  /** For one document, from the start of its thread. */
  documentMs: number;
  /** JavaScript heap of the thread. */
  heapMb: number;
  /** Heap and buffers of the thread together. */
  memoryBytes: number;
  charsMax: number;
}

export const extractorLimits: ExtractorLimits = {
  documentMs: 30_000,
  heapMb: 256,
  memoryBytes: 640 * 1024 * 1024,
  // A long book. It is searched through and written in one action of the database.
  charsMax: 500_000,
};

/** How often a thread is asked for its buffers, which the heap's limit does not count. */
const MEMORY_CHECK_MS = 25;
const STACK_MB = 4;

/**
 * Extracts the text of one document in a thread of its own, which ends with it: whatever a hostile
 * file does to a parser, it ends at the limits and leaves nothing behind. The hub's own thread only
 * waits.
 *
 * @throws the signal's reason when that aborts first; an error of the file itself.
 */
export async function extractText(
  document: { path: string; format: Format },
  signal: AbortSignal,
  limits: ExtractorLimits = extractorLimits,
): Promise<ExtractOutcome> {
  signal.throwIfAborted();
  const order: ExtractionOrder = { ...document, charsMax: limits.charsMax };
  const worker = new Worker(new URL('./extract-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, stackSizeMb: STACK_MB },
    // Parsers need no settings, and the environment holds secrets.
    env: {},
    execArgv: [],
    argv: [],
    // Parsers complain about documents at length; nobody reads that.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const stop = watch(worker, limits);
  try {
    return await Promise.race([answerOf(worker), stop.outcome, abortOf(signal)]);
  } finally {
    stop.cancel();
    await worker.terminate();
  }
}

function answerOf(worker: Worker): Promise<ExtractOutcome> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall !== undefined) reject(error);
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      resolve({ failure: isMemory ? 'out_of_memory' : 'malformed' });
    });
    worker.once('exit', () => resolve({ failure: 'malformed' }));
  });
}

/** Time and memory, watched from outside: a parser in a loop answers no questions itself. */
function watch(worker: Worker, { documentMs, memoryBytes }: ExtractorLimits) {
  const { promise: outcome, resolve } = Promise.withResolvers<ExtractOutcome>();
  const deadline = setTimeout(() => resolve({ failure: 'timed_out' }), documentMs);
  const check = setInterval(() => {
    worker.getHeapStatistics().then(
      ({ used_heap_size: heap, external_memory: buffers }) => {
        if (heap + buffers > memoryBytes) resolve({ failure: 'out_of_memory' });
      },
      // The thread has not started yet, or has ended, which tells the outcome itself.
      () => undefined,
    );
  }, MEMORY_CHECK_MS);
  return {
    outcome,
    cancel() {
      clearTimeout(deadline);
      clearInterval(check);
    },
  };
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
