// `npm test`: runs every test of the project, those whose paths contain the given words, or those
// affected by changes.
import { join } from 'node:path';
import { chooseTests } from './test/choose-tests.ts';
import { readTestOptions, testUsage } from './test/test-options.ts';
import { runTests } from './test/test-run.ts';

const root = join(import.meta.dirname, '..');

try {
  const options = readTestOptions(process.argv.slice(2), process.env);
  const files = chooseTests(root, options, (text) => process.stdout.write(`${text}\n`));
  process.exitCode = (await runTests(root, files, options)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n${testUsage}\n`);
  process.exitCode = 2;
}
