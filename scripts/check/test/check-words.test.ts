import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkWords } from '../check-words.ts';

/** A line of source, and whether it is refused. */
const lines: readonly (readonly [text: string, isRefused: boolean])[] = [
  ['// No agent holds the job.', false],
  ["// Called once; the hub's leader continues.", false],
  ['/** Returns what the caller asked for. */', false],
  ['// What happens if the reply is lost?', false],
  ['  title: "Whatever it takes",', true],
  ['// Nobody waits for it.', true],
  ["test('the work goes on', () => {", true],
  ['/** What a claim returns. */', true],
  [' * What a claim returns.', true],
  ['// A person and her token.', true],
  ['// Higher than another; there and elsewhere.', false],
  ['The database is away.', true],
  ['// The lock stands for the writer.', true],
  ['// It is nonempty.', false],
];

for (const [text, isRefused] of lines) {
  test(`the words of ${JSON.stringify(text)} are ${isRefused ? 'refused' : 'allowed'}`, () => {
    assert.equal(checkWords('a.ts', text).length, isRefused ? 1 : 0);
  });
}

test('a finding names the file, the line and what to write instead', () => {
  const [finding] = checkWords('a.ts', '// fine\n// anew');
  assert.deepEqual(finding, { file: 'a.ts', line: 2, message: '"anew" is retired: again' });
});
