import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { describeAction, type ToolCallState } from '../../src/executors/acp/tool-action.ts';
import { isGitReading } from '../../src/executors/permissions/git-reading.ts';
import { parsePermissions } from '../../src/executors/permissions/permission-file.ts';
import { createPermissionPolicy } from '../../src/executors/permissions/permission-policy.ts';

interface Asked extends Partial<ToolCallState> {
  cwd?: string;
  isReadOnly?: boolean;
  rules?: string;
}

function decide({ cwd = '/srv/agent/w', isReadOnly = false, rules = '', ...call }: Asked): string {
  const state: ToolCallState = {
    toolCallId: 'c',
    title: '',
    kind: 'other',
    toolName: '',
    mcpServer: '',
    rawInput: undefined,
    content: [],
    paths: [],
    ...call,
  };
  const scope = { agent: 'claude', repoId: 'r', clonePath: '/src/r', isReadOnly };
  return createPermissionPolicy(parsePermissions(rules, 'f')).decide(
    describeAction(state, cwd),
    scope,
  );
}

const run = (command: string, asked: Asked = {}) =>
  decide({ kind: 'execute', rawInput: { command }, ...asked });
const edit = (path: string, cwd: string) =>
  decide({ kind: 'edit', rawInput: { file_path: path }, cwd });

test('commands of git that only read are allowed, in jobs that may not write as well', () => {
  const lines = [
    'git status',
    'git status --short --branch',
    'git status -sb',
    'git diff',
    'git diff HEAD~2 --stat -- src test',
    'git diff main...HEAD --name-only',
    'git diff --cached -U5',
    "git log -5 --oneline --grep='fix: a bug' --since=2.weeks",
    'git log --format="%h %s" -n 3 HEAD@1 -- packages/agent/src',
    'git log -L 1,20:src/a.ts',
    'git show HEAD:src/a.ts',
    'git show --stat HEAD^',
    'git blame -L 10,20 -w src/a.ts',
    'git rev-parse --abbrev-ref HEAD',
    'git ls-files -m --others --exclude-standard',
    'git grep -n -i "a (word|pattern)" -- src',
    'git grep -inE pattern HEAD',
  ];
  for (const line of lines) {
    assert.equal(run(line), 'allow', line);
    assert.equal(run(line, { isReadOnly: true }), 'allow', line);
  }
});

test('a command of git that runs a program, writes, or reads elsewhere is asked about', () => {
  const lines = [
    'git grep -O payload',
    'git grep -Osh payload',
    'git grep -inOsh payload',
    "git grep '-Osh' payload",
    'git grep -"O"sh payload',
    'git grep --open-files-in-pager=sh payload',
    'git grep --open-files=sh payload',
    'git grep --op payload',
    'git grep -f /etc/passwd x',
    'git grep -e -- -Osh',
    'git diff --no-index /dev/null /etc/passwd',
    'git diff --no-ind a b',
    'git diff /dev/null /etc/passwd',
    'git diff README.md ../secret',
    'git diff README.md src/../../secret',
    'git diff ~/.ssh/id_rsa README.md',
    'git diff --output=x',
    'git diff --outp x',
    'git diff -O/etc/passwd',
    'git diff --ext-diff',
    'git diff --ext',
    'git log -p --ext-diff',
    'git log --textconv',
    'git show --textc HEAD:a',
    'git log --show-signature',
    'git log --grep -- --output=x',
    'git log -- *',
    "git log ''*",
    'git log {--output=x,--stat}',
    'git blame --contents /etc/passwd README.md',
    'git blame --contents=/etc/passwd README.md',
    'git blame --ignore-revs-file=/etc/passwd README.md',
    'git blame -S /etc/passwd README.md',
    'git ls-files -X /etc/passwd',
    'git ls-files --exclude-from=x',
    'git -c core.pager=sh log',
    'git --exec-path=/tmp status',
    'git -C .. status',
    'git status; sh',
    'git status\nsh',
    'git log $(sh)',
    'git log `sh`',
    'git log "$(sh)"',
    'git log <(sh)',
    'git log > x',
    'git log \\\n--output=x',
    'git log "a',
    'GIT_PAGER=sh git log',
    'git commit -m x',
    'git config alias.status !sh',
    'git',
    'git "diff --no-index" a b',
  ];
  for (const line of lines) assert.notEqual(run(line), 'allow', line);
});

/** Words that git understands, in several spellings, with some of those that it must not get. */
const pieces = fc.oneof(
  fc.constantFrom(...['-O', '-Osh', '-nO', '--open-files-in-pager', '--no-index', '--ext-diff']),
  fc.constantFrom(
    ...['--textconv', '--output=out', '--output', '--contents=out', '-f', '-e', '--'],
  ),
  fc.constantFrom(...['README.md', 'HEAD', '-n', '-p', '--stat', '--oneline', 'x', "''", '*', '?']),
  fc.constantFrom(...['--no-inde', '--outp=out', '--open', '--ext', '--textc', '-Sx', '-S', '-L1']),
);

test('git runs no other program and writes nothing in what is allowed', async (t) => {
  const place = makeRepository(t);
  const env = {
    PATH: process.env.PATH,
    HOME: place.folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_PAGER: place.trap,
    PAGER: place.trap,
    GIT_EXTERNAL_DIFF: place.trap,
  };
  // Options as names of files, which a pattern could become.
  for (const name of ['-Osh', '--output=out', '--ext-diff'])
    writeFileSync(join(place.cwd, name), '');
  fc.assert(
    fc.property(
      fc.constantFrom('diff', 'log', 'show', 'grep', 'blame', 'status', 'ls-files', 'rev-parse'),
      fc.array(pieces, { maxLength: 5 }),
      (name, words) => {
        const line = ['git', name, ...words].join(' ');
        if (!isGitReading(line)) return;
        // A program that `git diff` runs by itself is the person's own.
        const { GIT_EXTERNAL_DIFF: _, ...rest } = env;
        const options = { cwd: place.cwd, env: name === 'diff' ? rest : env, timeout: 10_000 };
        spawnSync('sh', ['-c', line], options);
        assert.ok(!existsSync(place.trace), `${line} ran another program`);
        assert.ok(!existsSync(join(place.cwd, 'out')), `${line} wrote a file`);
      },
    ),
    { numRuns: 150 },
  );
});

function makeRepository(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-policy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [cwd, trap, trace] = [join(folder, 'w'), join(folder, 'trap'), join(folder, 'trace')];
  mkdirSync(cwd);
  writeFileSync(trap, `#!/bin/sh\ntouch '${trace}'\n`, { mode: 0o755 });
  writeFileSync(join(cwd, 'README.md'), `touch '${trace}' # x\n`);
  const git = (...args: string[]) => {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@b.c'];
    execFileSync('git', [...who, ...args], { cwd, env: { PATH: process.env.PATH, HOME: folder } });
  };
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'x');
  return { folder, cwd, trap, trace };
}

test('checks are allowed in jobs that may write, and asked about in others', () => {
  for (const line of ['npm test', 'npm run lint', 'go test ./...', 'cargo build', 'make check']) {
    assert.equal(run(line), 'allow', line);
    assert.equal(run(line, { isReadOnly: true }), 'ask', line);
    const rules = 'allow execute *';
    assert.equal(run(line, { isReadOnly: true, rules }), 'allow', 'by a rule of the person');
  }
});

test('a file is where its links lead, and git directories are outside', (t) => {
  const { cwd, folder } = makeRepository(t);
  symlinkSync(join(folder, 'home'), join(cwd, 'directory'));
  symlinkSync(join(folder, '.bashrc'), join(cwd, 'new-file'));
  symlinkSync(join(cwd, 'new-file'), join(cwd, 'twice'));
  symlinkSync('loop', join(cwd, 'loop'));
  symlinkSync('.git', join(cwd, 'repository'));
  symlinkSync('README.md', join(cwd, 'inside'));
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'home/file'), '');
  symlinkSync(cwd, join(folder, 'link-to-cwd'));
  for (const path of ['a', 'src/new/file.ts', 'README.md', 'inside', '.github/x', '.gitignore']) {
    assert.equal(edit(path, cwd), 'allow', path);
    assert.equal(edit(join(cwd, path), cwd), 'allow', path);
    assert.equal(edit(join(cwd, path), join(folder, 'link-to-cwd')), 'allow', path);
  }
  const outside = ['directory/file', 'directory/new', 'new-file', 'twice', 'loop', 'loop/x'];
  const git = [
    '.git/config',
    '.GIT/config',
    '.Git/hooks/x',
    'repository/config',
    'sub/.git/config',
  ];
  for (const path of [...outside, ...git, '../x', '/etc/passwd', 'a/../../x']) {
    assert.equal(edit(path, cwd), 'ask', path);
  }
});

test('a tool of an MCP server is allowed by its server, not by its own name', () => {
  const call = (mcpServer: string, toolName: string, rules = '') =>
    decide({ mcpServer, toolName, title: toolName, rules });
  assert.equal(call('signalbox', 'mcp__signalbox__finish'), 'allow');
  assert.equal(call('other', 'signalbox'), 'ask');
  assert.equal(call('other', 'mcp__signalbox__finish'), 'ask');
  assert.equal(call('other', 'x', 'allow mcp other'), 'allow');
  assert.equal(call('other', 'mcp__other__read', 'allow mcp other/read'), 'allow');
  assert.equal(call('other', 'write', 'allow mcp other/read'), 'ask');
  assert.equal(call('evil', 'github', 'allow mcp github*'), 'ask');
  assert.equal(call('evil', 'delete_all', 'refuse mcp delete_*'), 'refuse');
});
