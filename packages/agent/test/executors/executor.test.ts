import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, relative } from 'node:path';
import test from 'node:test';
import { readKeptSettings } from '../../src/executors/claude-settings.ts';
import {
  createClaudeExecutor,
  createCodexExecutor,
  type Executor,
  ExecutorSandboxError,
} from '../../src/index.ts';
import { repoId, resultOf, type Setup, setup } from '../support/harness.ts';

/**
 * A fake tool on the PATH: it records its arguments and input, and prints a stream that follows the
 * tool's public documentation.
 */
function playStream(parts: Setup, tool: string, stream: string, exitCode = 0) {
  const bin = join(parts.directory, 'bin');
  mkdirSync(bin, { recursive: true });
  const file = join(parts.directory, 'stream.jsonl');
  cpSync(join(import.meta.dirname, 'streams', stream), file);
  writeFileSync(
    join(bin, tool),
    `#!/bin/sh
if [ "$1" = --version ]; then echo "${tool} 9.9.9"; exit 0; fi
if [ "$1" = auth ]; then echo '{"loggedIn": true}'; exit 0; fi
if [ "$1" = sandbox ]; then while [ "$1" != -- ]; do shift; done; shift; exec "$@"; fi
printf '%s\\n' "$@" > ${parts.directory}/arguments
printf '%s' "$SIGNALBOX_REPORT_FILE" > ${parts.directory}/report
cat > ${parts.directory}/input
echo changed > README.md
cat ${file}
exit ${exitCode}
`,
  );
  chmodSync(join(bin, tool), 0o755);
  const { CLAUDE_CONFIG_DIR: _, ...env } = process.env;
  return { ...env, HOME: parts.directory, PATH: `${bin}:${process.env.PATH}` };
}

async function runWith(
  parts: Setup,
  executor: Executor,
  env: NodeJS.ProcessEnv,
  kind: 'work' | 'pr_review' = 'work',
) {
  const held = parts.hub.enqueue({ repoId, prompt: 'Say hello', kind });
  const agent = await parts.start('', { executor, env });
  await parts.hub.until('the result', () => held.accepted !== null);
  await agent.drain();
  const readLines = (name: string) => readFileSync(join(parts.directory, name), 'utf8');
  return {
    result: resultOf(held),
    output: parts.hub.output(held, 'stdout'),
    argumentsSent: readLines('arguments').split('\n').slice(0, -1),
    input: readLines('input'),
    reportFile: readLines('report'),
  };
}

/** The directory of the job's result has another name in each run. */
function withoutPlace(args: readonly string[]): string[] {
  return args.map((arg) => arg.replace(/\/[^,()]*\/jobs\/[^/]+\/tool/, 'TOOL'));
}

test('Claude Code: session, model, tokens, cost and last message are read from its stream', async (t) => {
  const parts = await setup(t);
  const env = playStream(parts, 'claude', 'claude-success.jsonl');
  const executor = createClaudeExecutor({ model: 'sonnet', allowedTools: ['Bash(npm test:*)'] });
  const run = await runWith(parts, executor, env);
  assert.equal(run.result.outcome, 'done');
  assert.equal(run.result.message, 'Added the greeting and ran the tests.');
  assert.deepEqual(run.result.usage, {
    inputTokens: 12 + 3_400 + 15_600,
    outputTokens: 420,
    cachedInputTokens: 15_600,
    costUsd: 0.0731,
    model: 'claude-sonnet-4-5-20250929',
  });
  assert.deepEqual(run.result.evidence.executor, {
    name: 'claude',
    tool: 'claude',
    version: 'claude 9.9.9',
    sessionId: '5f2c9a54-7d0f-4f0c-9e0e-1f6f2a3b4c5d',
    isolation: { rungs: [], proved: [], user: userInfo().username },
    mode: 'acceptEdits',
    warnings: [
      'claude 9.9.9 was not tested with this agent, 2.1.332 was: its permissions may differ.',
    ],
  });
  assert.deepEqual(run.result.evidence.changedFiles, ['README.md']);
  assert.match(run.input, /^Your task:\n\nSay hello\n/);
  assert.match(run.input, /write this JSON to the file \/.*\/result\.json and end:/);
  assert.deepEqual(withoutPlace(run.argumentsSent), [
    ...['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'acceptEdits'],
    ...['--allowedTools', 'Bash(npm test:*)', '--add-dir', 'TOOL'],
    ...['--setting-sources', 'project,local', '--settings', '{"disableAllHooks":true}'],
    ...['--strict-mcp-config', '--model=sonnet'],
  ]);
  assert.equal(
    run.output,
    '[session 5f2c9a54-7d0f-4f0c-9e0e-1f6f2a3b4c5d, claude-sonnet-4-5-20250929]\n' +
      'I will look at the file first.\n→ Read: README.md\n  1→hello\n' +
      '→ Bash: npm test\n  3 passing\nAdded the greeting and ran the tests.\n',
  );
});

test('both get the server of the job: the prompt names its tools, no argument has the token', async (t) => {
  const jobServer = { file: '/opt/node', args: ['/opt/signalbox.mjs', 'mcp'] };
  const claude = await setup(t);
  const claudeEnv = playStream(claude, 'claude', 'claude-success.jsonl');
  const ofClaude = await runWith(claude, createClaudeExecutor({ jobServer }), claudeEnv);
  const config = ofClaude.argumentsSent[ofClaude.argumentsSent.indexOf('--mcp-config') + 1] ?? '';
  const { file: command, args } = jobServer;
  assert.deepEqual(JSON.parse(config), { mcpServers: { signalbox: { command, args } } });
  assert.match(ofClaude.argumentsSent.join(' '), /--allowedTools mcp__signalbox /);
  const codex = await setup(t);
  const codexEnv = playStream(codex, 'codex', 'codex-success.jsonl');
  const ofCodex = await runWith(codex, createCodexExecutor({ jobServer }), codexEnv);
  const names = ofCodex.argumentsSent.find((arg) => arg.includes('.env_vars='));
  assert.match(names ?? '', /^mcp_servers\.signalbox\.env_vars=\[.*"SIGNALBOX_JOB_TOKEN".*\]$/);
  for (const { argumentsSent, input, reportFile } of [ofClaude, ofCodex]) {
    // The server runs outside of the sandbox of its tool, so it writes where the tool cannot.
    const opened = argumentsSent[argumentsSent.indexOf('--add-dir') + 1] ?? '';
    assert.match(opened, /\/tool$/);
    assert.match(relative(opened, reportFile), /^\.\.\//);
    assert.doesNotMatch(argumentsSent.join(' '), /sbx_j_/);
    assert.match(input, /- ask_person asks a person and waits/);
  }
});

test('Claude Code: an error in its result is a failure for any exit code', async (t) => {
  const parts = await setup(t);
  const env = playStream(parts, 'claude', 'claude-max-turns.jsonl');
  const run = await runWith(parts, createClaudeExecutor(), env);
  assert.equal(run.result.outcome, 'failed');
  assert.equal(run.result.outcomeReason?.code, 'max_turns');
  assert.equal(run.result.usage?.costUsd, 0.5);
});

test('Claude Code: a read-only job may only read, and write its result', async (t) => {
  const parts = await setup(t);
  const env = playStream(parts, 'claude', 'claude-success.jsonl');
  const run = await runWith(parts, createClaudeExecutor(), env, 'pr_review');
  const rules = withoutPlace(run.argumentsSent).join(' ');
  assert.match(
    rules,
    /--permission-mode default --allowedTools Read,Grep,Glob,Bash\(git diff:\*\),/,
  );
  assert.match(rules, /,Edit\(TOOL\/\*\*\) /);
  assert.match(run.input, /do not change files of the repository/);
  assert.deepEqual(run.result.evidence.changedFiles, []);
});

test('Codex: thread, tokens of all turns and the last message are read from its stream', async (t) => {
  const parts = await setup(t);
  const env = playStream(parts, 'codex', 'codex-success.jsonl');
  const run = await runWith(parts, createCodexExecutor({ model: 'gpt-5-codex' }), env);
  assert.equal(run.result.outcome, 'done');
  assert.equal(run.result.message, 'The greeting is in README.md; all tests pass.');
  assert.deepEqual(run.result.usage, {
    inputTokens: 24_763,
    outputTokens: 122,
    cachedInputTokens: 24_448,
    model: 'gpt-5-codex',
  });
  assert.equal(run.result.evidence.executor.sessionId, '0199a213-81c0-7800-8aa1-bbab2a035a53');
  assert.deepEqual(withoutPlace(run.argumentsSent), [
    ...['exec', '--json', '--sandbox', 'workspace-write', '--ignore-rules'],
    ...['-c', 'approval_policy="never"', '-c', 'approvals_reviewer="user"', '--add-dir', 'TOOL'],
    ...['--model=gpt-5-codex', '-'],
  ]);
  assert.match(run.input, /^Your task:\n\nSay hello\n/);
  assert.equal(
    run.output,
    '[session 0199a213-81c0-7800-8aa1-bbab2a035a53]\n→ ls\n  README.md\n' +
      '→ update README.md\nThe greeting is in README.md; all tests pass.\n',
  );
});

test("Claude Code: a job keeps the person's login and provider, and none of their permissions", async (t) => {
  const parts = await setup(t);
  const env = playStream(parts, 'claude', 'claude-success.jsonl');
  const folder = join(parts.directory, '.claude');
  mkdirSync(folder);
  const permissions = { allow: ['Bash(*)'], deny: ['Read(./.env)'], defaultMode: 'auto' };
  const hooks = { SessionStart: [] };
  const kept = { apiKeyHelper: 'print-key', model: 'opus' };
  const settings = {
    ...kept,
    permissions,
    hooks,
    enabledPlugins: { x: true },
    env: { A_KEY: 'k' },
  };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'CLAUDE.md'), 'Be brief.');
  const { argumentsSent } = await runWith(parts, createClaudeExecutor(), env);
  const sent = argumentsSent[argumentsSent.indexOf('--settings') + 1] ?? '';
  assert.deepEqual(JSON.parse(sent), {
    ...kept,
    disableAllHooks: true,
    permissions: { deny: ['Read(./.env)'] },
  });
  assert.ok(argumentsSent.includes(join(folder, 'CLAUDE.md')));
  assert.equal(readKeptSettings(env).env.A_KEY, 'k');
});

test('Claude Code: settings are read from a file of their owner only', async (t) => {
  const { directory } = await setup(t);
  const file = join(directory, 'settings.json');
  const look = () => readKeptSettings({ CLAUDE_CONFIG_DIR: directory }).settings;
  assert.deepEqual(look(), {}, 'absent');
  execFileSync('mkfifo', [file]);
  assert.deepEqual(look(), {}, 'a pipe, without waiting for it');
  rmSync(file);
  writeFileSync(file, '[1]');
  assert.deepEqual(look(), {}, 'no object');
  writeFileSync(file, JSON.stringify({ model: 'opus', pad: 'x'.repeat(1024 * 1024) }));
  assert.deepEqual(look(), {}, 'too large');
});

test('Codex: a failed turn is a failure with its reason', async (t) => {
  const parts = await setup(t);
  const env = playStream(parts, 'codex', 'codex-failed.jsonl', 1);
  const run = await runWith(parts, createCodexExecutor(), env);
  assert.equal(run.result.outcome, 'failed');
  assert.equal(run.result.message, 'usage limit reached');
  assert.deepEqual(run.result.outcomeReason, {
    category: 'provider',
    code: 'usage_limit',
    summary: 'usage limit reached',
    retryable: true,
    recommendedDelayMs: 0,
    spendsAttempt: false,
  });
  // No turn was completed, and Codex left no record: the tokens are unknown, not 0.
  assert.equal(run.result.usage, undefined);
});

test('a tool that is not on the PATH is reported before any job is claimed', async (t) => {
  const parts = await setup(t);
  const env = { ...process.env, PATH: parts.directory };
  for (const [executor, message] of [
    [createClaudeExecutor(), /^claude is not on the PATH; install Claude Code/],
    [createCodexExecutor(), /^codex is not on the PATH; install Codex/],
  ] as const) {
    await assert.rejects(parts.start('', { executor, env }), {
      name: 'ExecutorMissingError',
      message,
    });
  }
  assert.deepEqual(parts.hub.calls, []);
});

test('Codex with a broken sandbox is refused with its words, unless it is to have none', async (t) => {
  const parts = await setup(t);
  const bin = join(parts.directory, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'codex'),
    `#!/bin/sh
if [ "$1" = --version ]; then echo "codex 9.9.9"; exit 0; fi
echo "$*" > ${parts.directory}/probe
echo "WARNING: about itself" >&2; echo "bwrap: execvp: No such file" >&2; exit 1
`,
    { mode: 0o755 },
  );
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  for (const sandbox of ['workspace-write', 'read-only'] as const) {
    const executor = createCodexExecutor({ sandbox });
    await assert.rejects(parts.start('', { executor, env }), (error) => {
      assert.ok(error instanceof ExecutorSandboxError, String(error));
      assert.match(error.message, /does not work here.*: bwrap: execvp: No such file To see it/);
      return true;
    });
    const probe = readFileSync(join(parts.directory, 'probe'), 'utf8');
    assert.equal(probe, `sandbox -c sandbox_mode="${sandbox}" -- true\n`);
  }
  const without = createCodexExecutor({ sandbox: 'danger-full-access' });
  assert.equal((await without.check(env)).version, 'codex 9.9.9');
});
