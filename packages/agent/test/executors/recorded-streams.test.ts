import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ClaudeReader } from '../../src/executors/claude-reader.ts';
import { CodexReader } from '../../src/executors/codex-reader.ts';
import type { ExecutorReport, OutputReader, ReadLine } from '../../src/executors/executor.ts';
import { judgeFailure } from '../../src/executors/judge-failure.ts';
import { textOfParts } from '../../src/executors/log-part.ts';
import { createRedactor } from '../../src/job/redaction.ts';

const SECRET = 'violet-harbour-9-lanterns';
const { redact } = createRedactor([SECRET]);
/** When the streams with limits were recorded, by the clock of that machine. */
const nowMs = () => new Date(2026, 10, 23, 19, 26, 44).getTime();
const worktree = '/srv/agent/w';

/** Plays a stream that a real tool has printed (`e2e/tools/`), with a scripted model. */
async function play(stream: string): Promise<{ log: string; lines: ReadLine[] } & ExecutorReport> {
  const reader: OutputReader = stream.startsWith('claude')
    ? new ClaudeReader({ worktree, redact, nowMs })
    : new CodexReader({ worktree, redact, nowMs });
  const file = join(import.meta.dirname, 'streams', `${stream}.jsonl`);
  const text = readFileSync(file, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => reader.readLine(line));
  return {
    ...(await reader.report({})),
    lines,
    log: lines.map(({ parts }) => textOfParts(parts)).join(''),
  };
}

const failures: Readonly<Record<string, string>> = {
  'claude-login-session': 'usage_limit',
  'claude-login-weekly': 'usage_limit',
  'claude-login-model': 'usage_limit',
  'claude-login-busy': 'provider_busy',
  'codex-reset-today': 'usage_limit',
  'codex-reset-later': 'usage_limit',
  'codex-unknown': 'tool_error',
  'claude-weekly': 'usage_limit',
  'claude-credit': 'usage_limit',
  'claude-plain429': 'provider_busy',
  'claude-overloaded': 'provider_busy',
  'claude-dropped': 'provider_busy',
  'claude-unauthorized': 'not_logged_in',
  'claude-forbidden': 'not_logged_in',
  'claude-no-model': 'model_unknown',
  'claude-too-long': 'context_too_long',
  'claude-max-tokens': 'output_limit',
  'claude-turns': 'max_turns',
  'claude-refusal': 'refused',
  'codex-weekly': 'usage_limit',
  'codex-quota': 'usage_limit',
  'codex-plain429': 'provider_busy',
  'codex-five-hundred': 'provider_busy',
  'codex-five-o-three': 'provider_busy',
  'codex-dropped': 'provider_busy',
  'codex-unauthorized': 'not_logged_in',
  'codex-no-model': 'model_unknown',
  'codex-too-long': 'context_too_long',
  'codex-max-tokens': 'output_limit',
};

for (const [stream, code] of Object.entries(failures)) {
  test(`${stream} is read as ${code}`, async () => {
    const { failure, usage } = await play(stream);
    assert.equal(failure?.code, code);
    assert.ok((failure?.summary ?? '').length > 10);
    // Unknown tokens are absent, never 0.
    assert.ok(usage === undefined || (usage.inputTokens ?? 0) > 0);
  });
}

test('the limit of a login is read with its reset, and whether it is of one model', async () => {
  const resets = async (stream: string) => {
    const { failure } = await play(stream);
    return [failure?.resetsAtMs, failure?.isOfModel ?? false];
  };
  // Claude Code tells the second; Codex the minute, in the time of the machine.
  assert.deepEqual(await resets('claude-login-session'), [1_795_465_604_000, false]);
  assert.deepEqual(await resets('claude-login-weekly'), [1_795_724_806_000, false]);
  assert.deepEqual(await resets('claude-login-model'), [1_795_724_811_000, true]);
  const today = new Date(2026, 10, 23, 20, 27).getTime();
  const later = new Date(2026, 10, 26, 20, 28).getTime();
  assert.deepEqual(await resets('codex-reset-today'), [today, false]);
  assert.deepEqual(await resets('codex-reset-later'), [later, false]);
});

test('a 429 is the limit of a login if the tool has told one beside it, else the provider is busy', () => {
  const told = { sentence: 'API Error: 429', status: 429 };
  assert.equal(judgeFailure(told, nowMs()).code, 'provider_busy');
  const limit = { type: 'five_hour', resetsAtMs: 1_795_465_604_000 };
  const { code, resetsAtMs } = judgeFailure({ ...told, limit }, nowMs());
  assert.deepEqual([code, resetsAtMs], ['usage_limit', limit.resetsAtMs]);
});

test('Claude Code that was ended tells what it has used so far', () => {
  const reader = new ClaudeReader({ worktree, redact, nowMs });
  const file = join(import.meta.dirname, 'streams', 'claude-success.jsonl');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  for (const line of lines) if (!line.includes('"type":"result"')) reader.readLine(line);
  const { usage } = reader.report();
  assert.ok((usage?.inputTokens ?? 0) > 0, JSON.stringify(usage));
  assert.equal(usage?.costUsd, undefined);
});

test('a retry that worked in the end is no failure, and each try is shown', async () => {
  const { failure, message, lines, log } = await play('claude-retry');
  assert.equal(failure, undefined);
  assert.equal(message, 'Then it worked.');
  assert.match(log, /… The model answered 500 \(server_error\): try 1 of 3, next in \d s\.\n/);
  assert.match(log, /try 2 of 3/);
  const retries = lines.filter(({ progress }) => progress?.includes('try '));
  assert.equal(retries.length, 2);
  const answer = lines.findIndex(({ hasAnswer }) => hasAnswer);
  assert.ok(answer > lines.indexOf(retries[1] as ReadLine));
});

test('each try of Codex is shown, and its last error once', async () => {
  const { log } = await play('codex-five-o-three');
  assert.match(log, /… The model did not answer: try 5 of 5\. unexpected status 503/);
  assert.equal(log.match(/^error: /gm)?.length ?? 0, 0);
});

test('a refused command is shown and reported', async () => {
  const { denied, log } = await play('claude-denied');
  assert.deepEqual(denied, ['Bash: npm test']);
  assert.match(log, /→ Bash: npm test\n✋ refused: Bash: npm test\n {2}✖ failed\n/);
});

test('the outputs of calls at the same time say which call they belong to', async () => {
  const { log } = await play('claude-parallel');
  assert.match(log, /← Bash: npm test\n {2}✖ failed\n {2}This command requires approval\n/);
  assert.match(log, /← Bash: ls -la\n/);
  assert.match(log, /✖ exit code 1\n {2}cat: nothing\.txt/);
});

test('a long output keeps its beginning and its end, after its exit code', async () => {
  const claude = await play('claude-long');
  assert.match(claude.log, / {2}✖ exit code 3\n {2}1\n {2}2\n/);
  assert.match(claude.log, /… [\d]+ characters left out …\n/);
  assert.match(claude.log, / {2}2000\n/);
  const codex = await play('codex-long');
  assert.match(codex.log, /→ seq 1 2000; exit 3\n {2}✖ exit code 3\n {2}1\n/);
  assert.match(codex.log, / {2}2000\n/);
});

test('the tokens of a sub-agent count, and its work is marked', async () => {
  const { usage, log } = await play('claude-sub');
  assert.equal(usage?.inputTokens, 100 + 5_000 + 7_000 + 100);
  assert.equal(usage?.outputTokens, 1_020);
  assert.equal(usage?.cachedInputTokens, 2_000);
  assert.equal(usage?.costUsd, 0.0616);
  assert.match(log, /→ Task: Look\n│ → Bash: ls\n/);
  assert.doesNotMatch(log, /do not mention to user/);
});

test('a command in the background adds to the tokens and begins no second session', async () => {
  const { usage, message, log } = await play('claude-background');
  assert.equal(usage?.inputTokens, 300);
  assert.equal(message, 'It has ended.');
  assert.equal(log.match(/\[session /g)?.length, 1);
  assert.equal(log.match(/It has ended\./g)?.length, 1);
});

test('a prompt that Claude Code took for its own command is not done', () => {
  const reader = new ClaudeReader({ worktree, redact, nowMs });
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: '',
    modelUsage: {},
  };
  reader.readLine(JSON.stringify(result));
  const report = reader.report();
  assert.equal(report.failure?.code, 'no_model_call');
  assert.equal(report.usage, undefined);
});

const activitiesOf = (lines: readonly ReadLine[]) =>
  lines.flatMap(({ parts }) => parts.flatMap(({ activity }) => activity ?? []));

test('calls, messages, usage and the session of Claude are told beside the text', async () => {
  const { lines } = await play('claude-success');
  const found = activitiesOf(lines);
  const { session } = found[0] ?? {};
  assert.equal(session?.model, 'claude-sonnet-4-5-20250929');
  assert.deepEqual(found[1], { isMessage: true });
  const calls = found.flatMap(({ toolCall }) => toolCall ?? []);
  const ids = new Set(calls.map(({ id }) => id));
  assert.ok(ids.size > 0);
  for (const id of ids) {
    const states = calls.filter((call) => call.id === id).map(({ status }) => status);
    assert.deepEqual(states, ['running', 'done'], id);
  }
  assert.ok((found.at(-1)?.usage?.inputTokens ?? 0) > 0);
});

test('a command of Claude that failed has its exit code, and one of a sub-agent is told', async () => {
  const { lines } = await play('claude-parallel');
  const calls = activitiesOf(lines).flatMap(({ toolCall }) => toolCall ?? []);
  const failed = calls.find(({ exitCode }) => exitCode !== undefined);
  assert.deepEqual([failed?.kind, failed?.status, failed?.exitCode], ['execute', 'failed', 1]);
  assert.ok(calls.some(({ title }) => title === 'ls -la'));
  const nested = activitiesOf((await play('claude-sub')).lines);
  assert.ok(nested.some(({ toolCall }) => toolCall?.title === 'ls'));
});

test('a list of TodoWrite is the plan', () => {
  const reader = new ClaudeReader({ worktree, redact, nowMs });
  const todos = [
    { content: 'Look', status: 'completed', activeForm: 'Looking' },
    { content: 'Mend', status: 'in_progress', activeForm: 'Mending' },
  ];
  const content = [{ type: 'tool_use', id: 't1', name: 'TodoWrite', input: { todos } }];
  const read = reader.readLine(JSON.stringify({ type: 'assistant', message: { content } }));
  assert.equal(textOfParts(read.parts), '→ TodoWrite\nPlan:\n  ☑ Look\n  ▸ Mend\n');
  assert.deepEqual(read.parts.at(-1)?.activity?.plan?.entries, [
    { text: 'Look', status: 'completed' },
    { text: 'Mend', status: 'in_progress' },
  ]);
});

test('calls, changed files, usage and the session of Codex are told beside the text', async () => {
  const { lines } = await play('codex-success');
  assert.deepEqual(
    activitiesOf(lines).map(({ toolCall, ...other }) => toolCall ?? other),
    [
      { session: { sessionId: '0199a213-81c0-7800-8aa1-bbab2a035a53', tool: 'codex' } },
      { id: 'item_1', kind: 'execute', title: 'ls', status: 'running' },
      { id: 'item_1', kind: 'execute', title: 'ls', status: 'done', exitCode: 0 },
      {
        id: 'item_2',
        kind: 'edit',
        title: 'update README.md',
        status: 'done',
        changes: [{ path: 'README.md' }],
      },
      { isMessage: true },
      { usage: { inputTokens: 24_763, outputTokens: 122, cachedInputTokens: 24_448 } },
    ],
  );
});

test('no part of a secret is left where the argument or the output of a call is cut', () => {
  const reader = new ClaudeReader({ worktree, redact, nowMs });
  for (const before of [190, 790]) {
    const words = `${'x'.repeat(before)}${SECRET}${'y'.repeat(4_000)}`;
    const messages = [
      {
        type: 'assistant',
        message: {
          content: [{ type: 'tool_use', id: 'c', name: 'Bash', input: { command: words } }],
        },
      },
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 'c', content: words }] },
      },
    ];
    const shown = messages
      .map((message) => textOfParts(reader.readLine(JSON.stringify(message)).parts))
      .join('');
    assert.match(shown, /characters left out/);
    assert.doesNotMatch(shown, /violet|lanterns/);
  }
});
