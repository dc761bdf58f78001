import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { auditActions, auditWords } from '../src/format/audit-words.ts';

const hubSources = join(import.meta.dirname, '../../hub/src');

/** Finds the actions that the sources of the hub write. */
function writtenActions(): Set<string> {
  const files = readdirSync(hubSources, { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(hubSources, name), 'utf8'));
  const found = texts.flatMap((text) => [...text.matchAll(/action(?::| =) '([a-z-]+\.[a-z-]+)'/g)]);
  return new Set(found.map(([, action = '']) => action));
}

it('has words for each action that the hub writes', () => {
  const actions = [...writtenActions()];
  expect(actions.length).toBeGreaterThan(20);
  expect(actions.filter((action) => auditWords(action) === action)).toEqual([]);
});

it('offers an action that the address names, also one that it does not know', () => {
  expect(auditActions('later.kind')).toContainEqual({ value: 'later.kind', word: 'later.kind' });
  expect(auditActions(undefined).map(({ value }) => value)).not.toContain('later.kind');
});
