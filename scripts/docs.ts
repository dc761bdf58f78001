// `npm run docs`: writes the pages of docs/ that are made from the code.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedPages } from './docs/generated-pages.ts';

const root = join(import.meta.dirname, '..');
for (const { path, write } of generatedPages) {
  writeFileSync(join(root, path), write());
  process.stdout.write(`Wrote ${path}\n`);
}
