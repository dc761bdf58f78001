import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  askForHook,
  isYesOrNo,
  readHookRequest,
  untilCallEnded,
} from '../../src/executors/hook-question.ts';

const means = { env: { DEPLOY_TOKEN: 'violet-harbour-9' }, secrets: ['sbx_d_4711_lanterns'] };

function requestOf(tool_name: string, tool_input: object, more = {}) {
  const json = { hook_event_name: 'PermissionRequest', session_id: 's1', cwd: '/src/api' };
  const request = readHookRequest(JSON.stringify({ ...json, tool_name, tool_input, ...more }));
  assert.ok(request);
  return request;
}

const ask = (tool: 'claude' | 'codex', name: string, input: object) =>
  askForHook(tool, requestOf(name, input), means);

const patch = `*** Begin Patch
*** Update File: src/a.ts
@@
-old
+new
+more
*** Move to: src/b.ts
*** Add File: /etc/motd
+hello
*** End Patch`;

for (const [name, tool, toolName, input, prompt, context] of [
  [
    'a command is shown whole, without secrets',
    ...['claude', 'Bash'],
    { command: 'curl -H "x: violet-harbour-9" sbx_d_4711_lanterns' },
    'Claude Code asks to run a command: curl -H "x: [redacted]" [redacted]',
    'Command:\ncurl -H "x: [redacted]" [redacted]',
  ],
  [
    'a new file is shown by its path and lines',
    ...['claude', 'Write'],
    { file_path: '/src/api/a.txt', content: 'one\ntwo\n' },
    'Claude Code asks to change files: a.txt',
    'Files:\na.txt (+2 −0)',
  ],
  [
    'an edit elsewhere says so',
    ...['claude', 'Edit'],
    { file_path: '/etc/hosts', old_string: 'a', new_string: 'b' },
    'Claude Code asks to change files: /etc/hosts',
    'Files:\n/etc/hosts (+1 −1)\n\nIt reaches outside of the folder of the session.',
  ],
  [
    'an address is shown',
    ...['claude', 'WebFetch'],
    { url: 'https://docs.example.com/a', prompt: 'Read it' },
    'Claude Code asks to fetch from the network: https://docs.example.com/a',
    'Address:\nhttps://docs.example.com/a',
  ],
  [
    'a tool of an MCP server is named with its server',
    ...['codex', 'mcp__github__create_issue'],
    { title: 'x' },
    'Codex asks to use a tool of an MCP server: create_issue of github',
    '',
  ],
  [
    'a patch is shown by its files',
    ...['codex', 'apply_patch'],
    { command: patch },
    'Codex asks to change files: src/a.ts and 2 more',
    'Files:\nsrc/a.ts (+2 −1)\nsrc/b.ts (+2 −1)\n/etc/motd (+1 −0)\n\n' +
      'It reaches outside of the folder of the session.',
  ],
] as const) {
  test(name, () => {
    const asked = ask(tool, toolName, input);
    assert.deepEqual(asked, { prompt, context });
  });
}

test('long commands are cut as those of jobs are', () => {
  const { prompt, context } = ask('codex', 'Bash', { command: 'x'.repeat(100_000) });
  assert.ok(prompt.length < 400 && context.length < 4_100);
});

test('what is no request for a permission is not read', () => {
  const cwd = '/src';
  for (const text of ['', '[]', '{}', JSON.stringify({ hook_event_name: 'PreToolUse', cwd })]) {
    assert.equal(readHookRequest(text), null);
  }
});

test('questions with more than yes or no are for the terminal', () => {
  assert.equal(isYesOrNo(requestOf('AskUserQuestion', {})), false);
  assert.equal(isYesOrNo(requestOf('ExitPlanMode', {})), false);
  assert.equal(isYesOrNo(requestOf('Bash', {})), true);
});

test('the result of the call ends the wait, and no earlier or other one does', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-hook-'));
  t.after(() => rm(folder, { recursive: true }));
  const transcript = join(folder, 'session.jsonl');
  const line = (part: object, second = 9) => {
    const timestamp = `2026-11-02T09:00:0${second}.000Z`;
    return `${JSON.stringify({ timestamp, message: { content: [part] } })}\n`;
  };
  const use = (id: string, command: string) =>
    line({ type: 'tool_use', id, name: 'Bash', input: { command } });
  const result = (id: string, second?: number) =>
    line({ type: 'tool_result', tool_use_id: id, content: 'ok' }, second);
  await writeFile(transcript, use('1', 'make') + result('1', 1) + use('2', 'ls') + use('4', 'pwd'));
  const stop = new AbortController();
  const options = { signal: stop.signal, sinceMs: Date.parse('2026-11-02T09:00:05.000Z') };
  const request = requestOf('Bash', { command: 'make' }, { transcript_path: transcript });
  let hasEnded = false;
  const ended = untilCallEnded(request, options).then(() => {
    hasEnded = true;
  });
  const [ls, pwd] = ['ls', 'pwd'].map((command) =>
    untilCallEnded({ ...request, input: { command } }, options),
  );
  await appendFile(transcript, `${result('2')}not JSON\n${use('3', 'make')}`);
  await ls;
  // All look at the same pace, so the first one has looked as well.
  await appendFile(transcript, result('4'));
  await pwd;
  assert.equal(hasEnded, false);
  const half = result('3');
  await appendFile(transcript, half.slice(0, 30));
  await appendFile(transcript, half.slice(30));
  await ended;
  const unread = untilCallEnded({ ...request, transcript: join(folder, 'none') }, options);
  stop.abort(new Error('The hook has ended.'));
  await assert.rejects(unread, /The operation was aborted/);
});
