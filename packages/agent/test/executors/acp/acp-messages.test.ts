import assert from 'node:assert/strict';
import test from 'node:test';
import type { PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { AcpReader } from '../../../src/executors/acp/acp-messages.ts';
import { textOfParts } from '../../../src/executors/log-part.ts';
import { createRedactor } from '../../../src/job/redaction.ts';

// Messages as the real tools sent them (e2e/tools), shortened.

const cwd = '/srv/agent/w';
const SECRET = 'violet-harbour-9-lanterns';
const { redact } = createRedactor([SECRET]);

function read(updates: readonly object[]): string {
  const reader = new AcpReader({ cwd, share: 'stat', redact });
  return updates.map((update) => textOfParts(reader.read(update as SessionUpdate).parts)).join('');
}

const call = (fields: object) => ({ sessionUpdate: 'tool_call', ...fields });
const update = (fields: object) => ({ sessionUpdate: 'tool_call_update', ...fields });
const text = (words: string) => [{ type: 'content', content: { type: 'text', text: words } }];

test('Claude: a call is shown by its command, not by the title before it', () => {
  const toolCallId = 'toolu_1';
  const rawInput = { command: 'git log -1', description: 'A command' };
  const log = read([
    call({ toolCallId, title: 'Terminal', kind: 'execute', status: 'pending', rawInput: {} }),
    update({ toolCallId, title: 'git log -1', rawInput, content: text('A command') }),
    update({ toolCallId, status: 'completed', content: text('```console\nBegin\n```') }),
  ]);
  assert.equal(log, '→ git log -1\n  Begin\n');
});

test('opencode: a call is shown by its command, with its exit code', () => {
  const toolCallId = 'toolu_3';
  const output = 'not ok 1\n';
  const log = read([
    call({ toolCallId, title: 'Bash', kind: 'execute', status: 'pending', rawInput: { cwd } }),
    update({ toolCallId, status: 'in_progress', rawInput: { command: 'npm test', cwd } }),
    update({
      toolCallId,
      status: 'completed',
      content: text(output),
      rawOutput: { output, metadata: { output, exit: 1, truncated: false } },
    }),
  ]);
  assert.equal(log, '→ npm test\n  not ok 1\n  ✖ failed with exit code 1\n');
});

test('Codex: output that came while a command ran is shown at its end', () => {
  const toolCallId = 'call_1';
  const terminal_id = toolCallId;
  const piece = (data: string) =>
    update({ toolCallId, _meta: { terminal_output_delta: { data, terminal_id } } });
  const log = read([
    call({
      toolCallId,
      title: 'npm test',
      kind: 'execute',
      status: 'in_progress',
      content: [{ type: 'terminal', terminalId: toolCallId }],
      rawInput: { command: 'npm test' },
    }),
    piece('ok 1\n'),
    piece('not ok 2\n'),
    update({
      toolCallId,
      status: 'completed',
      _meta: { terminal_exit: { exit_code: 1, signal: null, terminal_id } },
    }),
  ]);
  assert.equal(log, '→ npm test\n  ok 1\n  not ok 2\n  ✖ failed with exit code 1\n');
});

test('much output keeps its beginning and its end', () => {
  const toolCallId = 'call_1';
  const pieces = Array.from({ length: 500 }, (_, line) =>
    update({ toolCallId, _meta: { terminal_output_delta: { data: `line ${line}\n`.repeat(9) } } }),
  );
  const log = read([...pieces, update({ toolCallId, status: 'completed' })]);
  assert.match(log, /^→ call_1\n {2}line 0\n/);
  assert.match(log, / {2}line 499\n$/);
  assert.match(log, /… \d+ characters left out …/);
  assert.ok(log.length < 8_000, String(log.length));
});

test('opencode: a permission without a kind is about the command that is known', () => {
  const reader = new AcpReader({ cwd, share: 'stat', redact });
  const toolCallId = 'toolu_5';
  const command = 'touch /srv/other';
  reader.read(
    call({ toolCallId, title: 'Bash', kind: 'execute', status: 'pending' }) as SessionUpdate,
  );
  const merged = reader.mergeCall({
    toolCallId,
    kind: 'other',
    title: command,
    rawInput: { command },
  });
  assert.equal(merged.kind, 'execute');
});

function usageOf(responses: readonly object[], countsLastCallOnly = false) {
  const reader = new AcpReader({ cwd, share: 'stat', countsLastCallOnly, redact });
  for (const response of responses) reader.readTurn(response as PromptResponse);
  return reader.usage();
}

const stopReason = 'end_turn';

test('Claude: sub-agents and cached input count, by model, once', () => {
  const counts = (input: number, cached: number, written: number, output: number) => ({
    inputTokens: input,
    cachedInputTokens: cached,
    cachedWriteTokens: written,
    outputTokens: output,
    totalTokens: input + cached + written + output,
  });
  const quota = {
    token_count: counts(200, 0, 0, 20),
    model_usage: [
      { model: 'claude-opus', token_count: counts(1_000, 4_000, 500, 100) },
      { model: 'claude-haiku', token_count: counts(50, 0, 0, 5) },
    ],
  };
  const usage = { inputTokens: 200, cachedReadTokens: 0, outputTokens: 20, totalTokens: 220 };
  const turn = { stopReason, usage, _meta: { quota } };
  assert.deepEqual(usageOf([turn, turn]), {
    inputTokens: 11_100,
    outputTokens: 210,
    cachedInputTokens: 8_000,
    model: 'claude-opus',
    models: [
      { model: 'claude-opus', inputTokens: 11_000, outputTokens: 200, cachedInputTokens: 8_000 },
      { model: 'claude-haiku', inputTokens: 100, outputTokens: 10, cachedInputTokens: 0 },
    ],
  });
});

test('Gemini: it tells nothing about a cache, so nothing is said about it', () => {
  const model_usage = ['gemini-flash', 'auto'].map((model) => ({
    model,
    token_count: { input_tokens: 100, output_tokens: 10 },
  }));
  const token_count = { input_tokens: 200, output_tokens: 20 };
  assert.deepEqual(usageOf([{ stopReason, _meta: { quota: { token_count, model_usage } } }]), {
    inputTokens: 200,
    outputTokens: 20,
    model: 'gemini-flash',
    models: [
      { model: 'gemini-flash', inputTokens: 100, outputTokens: 10 },
      { model: 'auto', inputTokens: 100, outputTokens: 10 },
    ],
  });
});

test('opencode: tokens of the last call alone are not those of a turn', () => {
  const usage = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };
  assert.equal(usageOf([{ stopReason, usage, _meta: {} }], true), undefined);
});

test('other tools: the usage of the protocol counts', () => {
  const usage = { inputTokens: 30, cachedReadTokens: 70, outputTokens: 10, totalTokens: 110 };
  assert.deepEqual(
    usageOf([
      { stopReason, usage },
      { stopReason, usage },
    ]),
    {
      inputTokens: 200,
      outputTokens: 20,
      cachedInputTokens: 140,
    },
  );
});

test('a tool that says nothing, or only 0, has no usage', () => {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  assert.equal(usageOf([{ stopReason }, { stopReason, usage }]), undefined);
});

function activities(updates: readonly object[], share: 'names' | 'stat' | 'patch' = 'stat') {
  const reader = new AcpReader({ cwd, share, redact });
  return updates
    .flatMap((each) => reader.read(each as SessionUpdate).parts)
    .flatMap(({ activity }) => activity ?? []);
}

test('a call is told once when it begins and once when it has ended', () => {
  const toolCallId = 'toolu_1';
  const rawInput = { command: 'npm test' };
  const piece = update({ toolCallId, _meta: { terminal_output_delta: { data: 'ok\n' } } });
  const found = activities([
    call({ toolCallId, title: 'Bash', kind: 'execute', status: 'pending' }),
    update({ toolCallId, status: 'in_progress', rawInput }),
    ...[piece, piece, piece],
    update({ toolCallId, status: 'completed', rawOutput: { exitCode: 2 } }),
    update({ toolCallId, status: 'completed' }),
  ]);
  const toolCall = { id: toolCallId, kind: 'execute', title: 'npm test' };
  assert.deepEqual(found, [
    { toolCall: { ...toolCall, status: 'running' } },
    { toolCall: { ...toolCall, status: 'failed', exitCode: 2 } },
  ]);
});

test('changed files are told within what is shared, and never their text', () => {
  const toolCallId = 'toolu_2';
  const path = `${cwd}/src/a.ts`;
  const content = [{ type: 'diff', path, oldText: 'const old = 1;\n', newText: 'x\ny\n' }];
  const edit = [
    call({ toolCallId, title: `Edit ${path}`, kind: 'edit', status: 'pending', content }),
    update({ toolCallId, status: 'completed' }),
  ];
  const counted = { path: 'src/a.ts', added: 2, removed: 1 };
  for (const [share, change] of [
    ['names', { path: 'src/a.ts' }],
    ['stat', counted],
    ['patch', counted],
  ] as const) {
    const [ended] = activities(edit, share);
    assert.deepEqual(ended?.toolCall?.changes, [change], share);
    assert.equal(ended?.toolCall?.title, 'Edit src/a.ts');
    assert.ok(!JSON.stringify(ended).includes('const old'), share);
  }
});

test('a message begins after a call, and a plan that is sent again is no news', () => {
  const say = (words: string) => ({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: words },
  });
  const entries = [{ content: 'Mend it', status: 'pending', priority: 'high' }];
  const plan = { sessionUpdate: 'plan', entries };
  const done = call({ toolCallId: 't', title: 'Look', kind: 'dance', status: 'completed' });
  assert.deepEqual(
    activities([say('I '), say('look'), done, say('Then'), plan, plan, say('x')]).map(
      ({ toolCall, plan: found, isMessage }) => toolCall?.kind ?? found?.entries ?? isMessage,
    ),
    [true, 'other', true, [{ text: 'Mend it', status: 'pending', priority: 'high' }], true],
  );
});

test('usage is told at the end of a turn, with the context that the model has left', () => {
  const reader = new AcpReader({ cwd, share: 'stat', redact });
  for (const used of [1_000, 2_000]) {
    const cost = { amount: 0.25, currency: 'USD' };
    const update = { sessionUpdate: 'usage_update', used, size: 200_000, cost };
    assert.deepEqual(reader.read(update as SessionUpdate).parts, []);
  }
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const [part] = reader.readTurn({ stopReason: 'end_turn', usage });
  assert.deepEqual(part?.activity?.usage, {
    inputTokens: 10,
    outputTokens: 5,
    costUsd: 0.25,
    contextTokens: 2_000,
    contextTokensMax: 200_000,
  });
});

test('no part of a secret is left where a text is cut', () => {
  // The secret begins before the cut and ends behind it, at each cut of a text.
  for (const before of [190, 1_990]) {
    const words = `${'x'.repeat(before)}${SECRET}${'y'.repeat(4_000)}`;
    const shown = read([
      call({ toolCallId: 'c', status: 'in_progress', kind: 'execute', title: words }),
      update({ toolCallId: 'c', status: 'completed', content: text(words) }),
    ]);
    assert.match(shown, /characters left out/);
    assert.doesNotMatch(shown, /violet|lanterns/);
    assert.match(shown, /\[redacted\]|xxx…/);
  }
});
