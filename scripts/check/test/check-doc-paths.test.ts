import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { checkDocPaths } from '../check-doc-paths.ts';

const sources = {
  'packages/hub/src/jobs/claim.ts': '',
  'scripts/bootstrap.mjs': '',
  'docs/other.md': '',
};

function check(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-doc-paths-'));
  try {
    for (const [path, content] of Object.entries({ ...sources, ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    return checkDocPaths(root).map(({ file, line, message }) => `${file}:${line} ${message}`);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** A document, its text, and the path that is reported (none: all exist). */
const texts: readonly (readonly [file: string, text: string, missing: string])[] = [
  ['docs/page.md', 'See `jobs/claim.ts`.', ''],
  ['docs/page.md', 'See `packages/hub/src/jobs/claim.ts`.', ''],
  ['docs/page.md', 'See `claim.ts` and `scripts/bootstrap.mjs`.', ''],
  ['docs/page.md', 'See `jobs/claim-actions.ts`.', 'jobs/claim-actions.ts'],
  ['docs/page.md', 'See `complete.ts`.', 'complete.ts'],
  ['docs/page.md', 'Files end in `-sqlite.test.ts`.', ''],
  ['docs/page.md', 'See [other](other.md#part) and [out](https://example.org/a.md).', ''],
  ['docs/page.md', 'See [other](absent.md).', 'absent.md'],
  ['docs/decisions/0001-a.md', 'It was in `complete.ts`, see [other](../other.md).', ''],
  ['docs/decisions/0001-a.md', 'See [other](../absent.md).', '../absent.md'],
  ['README.md', 'See `complete.ts`.', 'complete.ts'],
];

for (const [file, text, missing] of texts) {
  test(`${file} with ${JSON.stringify(text)} ${missing === '' ? 'passes' : 'is refused'}`, () => {
    const found = check({ [file]: text });
    assert.equal(found.length, missing === '' ? 0 : 1, found.join('\n'));
    if (missing !== '') assert.match(found[0] ?? '', new RegExp(`^${file}:1 .*${missing}`));
  });
}
