// Loaded by Node before Vitest: tells the processor time of its run, which Vitest does not report.
import { readProcessorMs } from './processor-time.ts';

// The workers of Vitest inherit the option that loads this.
const isRun = process.argv[1]?.endsWith('vitest.mjs') === true;
if (isRun) process.once('exit', () => process.send?.({ processorMs: readProcessorMs() }));
