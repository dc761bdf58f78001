// `npm test`: every test of the project, or those whose paths hold the given words.
import { join } from 'node:path';
import { findTestFiles } from './test/test-files.ts';
import { readTestOptions, testUsage } from './test/test-options.ts';
import { runTests } from './test/test-run.ts';

const root = join(import.meta.dirname, '..');

try {
  const options = readTestOptions(process.argv.slice(2), process.env);
  const files = findTestFiles(root, options.filters);
  process.exitCode = (await runTests(root, files, options)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n${testUsage}\n`);
  process.exitCode = 2;
}
