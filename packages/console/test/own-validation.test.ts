import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tsx'))
  .map((name) => ({ name, text: readFileSync(join(source, name), 'utf8') }))
  .filter(({ text }) => text.includes('<form'));

test.each(files)('$name shows its own errors, not those of the browser', ({ text }) => {
  // These make a browser refuse to submit, with a bubble of its own.
  const isChecked = /\brequired(?!=\{false\})\b|type="(?:email|url|number)"|\bpattern=/.test(text);
  const isOwn = text.includes('noValidate') || text.includes('{...fields.form}');
  expect(isChecked && !isOwn).toBe(false);
});

test('there are forms to look at', () => {
  expect(files.length).toBeGreaterThan(8);
});
