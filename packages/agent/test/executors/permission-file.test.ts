import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import {
  PermissionFileError,
  parsePermissionRule,
  parsePermissions,
  readPermissionFile,
} from '../../src/executors/permissions/permission-file.ts';

const anywhere = { agent: null, repository: null };

test('a rule has a verdict, a kind and a pattern of the rest of the line', () => {
  assert.deepEqual(parsePermissions('allow execute npm run  test*\nask *\nrefuse fetch', 'f'), [
    { verdict: 'allow', what: 'execute', pattern: 'npm run  test*', ...anywhere },
    { verdict: 'ask', what: '*', pattern: '', ...anywhere },
    { verdict: 'refuse', what: 'fetch', pattern: '', ...anywhere },
  ]);
});

test('empty lines, comments, indentation and line ends of Windows mean nothing', () => {
  const text = '\r\n# a comment\r\n  allow  read\r\n\t# another\r\n';
  assert.deepEqual(parsePermissions(text, 'f'), [
    { verdict: 'allow', what: 'read', pattern: '', ...anywhere },
  ]);
  assert.deepEqual(parsePermissions('', 'f'), []);
});

test('a header limits the lines below it, until the next one', () => {
  const text = [
    'ask fetch',
    '[agent codex]',
    'ask execute',
    '[repository ../payments]',
    'ask *',
    '[ repository  repo_1 ]',
    'ask edit',
    '[repository /srv/api]',
    'ask move',
    '[all]',
    'ask read',
  ];
  const rules = parsePermissions(text.join('\n'), '/home/ann/rules/permissions');
  assert.deepEqual(
    rules.map(({ what, agent, repository }) => [what, agent, repository]),
    [
      ['fetch', null, null],
      ['execute', 'codex', null],
      ['*', null, '/home/ann/payments'],
      ['edit', null, 'repo_1'],
      ['move', null, '/srv/api'],
      ['read', null, null],
    ],
  );
});

test('a mistake names the file, the line and what to write', () => {
  const kinds = 'delete, edit, execute, fetch, mcp, move, other, read, search, switch_mode, think';
  const header = 'write [all], [agent NAME] or [repository PATH], such as [agent codex].';
  const cases: [text: string, sentence: string][] = [
    ['permit read', 'f:1: begin with allow, ask, refuse, such as: allow execute npm test*'],
    [
      'allow read\n\nAllow read',
      'f:3: begin with allow, ask, refuse, such as: allow execute npm test*',
    ],
    ['allow', `f:1: after allow comes one of *, ${kinds}, not nothing.`],
    ['# x\nask run ls', `f:2: after ask comes one of *, ${kinds}, not "run".`],
    ['[agent]', `f:1: ${header}`],
    ['[all codex]', `f:1: ${header}`],
    ['allow read\n[tool codex]', `f:2: ${header}`],
    ['[]', `f:1: ${header}`],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => parsePermissions(text, 'f'), new PermissionFileError(message));
  }
});

test('one rule is read without a file, and a mistake in it without a place', () => {
  const expected = { verdict: 'allow', what: 'mcp', pattern: 'github*', ...anywhere };
  assert.deepEqual(parsePermissionRule(' allow mcp github* '), expected);
  assert.throws(() => parsePermissionRule('[all]'), /^PermissionFileError: begin with allow/);
});

test('a file that is missing or too large is refused by its name', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-permissions-'));
  t.after(() => rm(directory, { recursive: true }));
  const missing = join(directory, 'missing');
  await assert.rejects(readPermissionFile(missing), {
    name: 'PermissionFileError',
    message: new RegExp(`^${missing} cannot be read: ENOENT`),
  });
  const large = join(directory, 'large');
  // Fewer characters than the limit, more bytes.
  await writeFile(large, `# ${'ä'.repeat(200_000)}`);
  const message = `${large} is larger than 262144 bytes.`;
  await assert.rejects(readPermissionFile(large), new PermissionFileError(message));
});
