// `npm run conformance`: writes docs/CONFORMANCE.md from the table of the hub's conformance tests.
// The package does not export the table, so a separate process prints the page.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const page = execFileSync(process.execPath, [join(root, 'packages/hub/test/conformance/page.ts')], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
writeFileSync(join(root, 'docs/CONFORMANCE.md'), page);
const count = /^\d+ statements/m.exec(page)?.[0] ?? 'no statements';
process.stdout.write(`Wrote docs/CONFORMANCE.md: ${count}.\n`);
