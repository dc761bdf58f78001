// `npm run e2e`: runs the numbered scenarios; arguments select some of them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chooseTests } from './test/choose-tests.ts';
import { readTestOptions, testUsage } from './test/test-options.ts';
import { runTests } from './test/test-run.ts';

const root = join(import.meta.dirname, '..');

try {
  const options = readTestOptions(process.argv.slice(2), process.env);
  const files = chooseTests(root, options, (text) => process.stdout.write(`${text}\n`));
  const scenarios = files.filter((file) => file.startsWith('e2e/'));
  if (scenarios.some((file) => file.startsWith('e2e/tools/'))) installCodingTools();
  process.exitCode = (await runTests(root, scenarios, options)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n${testUsage}\n`);
  process.exitCode = 2;
}

/** Without them their scenarios are skipped, which the summary shows. */
function installCodingTools(): void {
  spawnSync(process.execPath, ['e2e/tools/install-tools.ts'], { cwd: root, stdio: 'inherit' });
}
