import { Worker } from 'node:worker_threads';
import type { ExtractionOrder, ExtractOutcome } from './extract-outcome.ts';

export interface ExtractorLimits {
  /** Processor time that one document may take. */
  processorMs: number;
  /** Time limit for one document, from the start of its thread, whether or not it runs. */
  documentMs: number;
  /** Limit of the thread's JavaScript heap. */
  heapMb: number;
  /** Limit of the thread's heap and buffers together. */
  memoryBytes: number;
  charsMax: number;
}

export const extractorLimits: ExtractorLimits = {
  processorMs: 30_000,
  // The thread yields to all others, so on a busy machine it takes many times its processor time.
  documentMs: 300_000,
  heapMb: 256,
  memoryBytes: 640 * 1024 * 1024,
  // A long book. The text is indexed and written in one transaction.
  charsMax: 500_000,
};

/** How often the thread's time and buffers are measured, which its own limits do not include. */
const CHECK_MS = 25;
const STACK_MB = 4;

/**
 * Extracts the text of one document in a separate thread, which is terminated afterwards. A hostile
 * file can block its parser or use up memory only up to the limits, and leaves no state behind. The
 * hub's own thread only waits.
 *
 * @throws the signal's reason when it aborts first; an error of reading the file.
 */
export async function extractText(
  document: Pick<ExtractionOrder, 'path' | 'format' | 'redacts'>,
  signal: AbortSignal,
  limits: ExtractorLimits = extractorLimits,
): Promise<ExtractOutcome> {
  signal.throwIfAborted();
  const order: ExtractionOrder = { ...document, charsMax: limits.charsMax };
  const worker = new Worker(new URL('./extract-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, stackSizeMb: STACK_MB },
    // Parsers need no environment, and the hub's contains secrets.
    env: {},
    execArgv: [],
    argv: [],
    // The output of parsers about faulty documents is discarded.
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

/** Watches time and memory from outside, since a blocked parser cannot report itself. */
function watch(worker: Worker, { processorMs, documentMs, memoryBytes }: ExtractorLimits) {
  const { promise: outcome, resolve } = Promise.withResolvers<ExtractOutcome>();
  const deadline = setTimeout(() => resolve({ failure: 'timed_out' }), documentMs);
  const check = setInterval(() => {
    Promise.all([worker.getHeapStatistics(), worker.cpuUsage()]).then(
      ([{ used_heap_size: heap, external_memory: buffers }, { user, system }]) => {
        if (heap + buffers > memoryBytes) resolve({ failure: 'out_of_memory' });
        if ((user + system) / 1_000 > processorMs) resolve({ failure: 'timed_out' });
      },
      // The thread has not started yet, or it has ended and `answerOf` reports the outcome.
      () => undefined,
    );
  }, CHECK_MS);
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
