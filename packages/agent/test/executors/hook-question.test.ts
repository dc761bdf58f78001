import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askForHook, isYesOrNo, readHookRequest } from '../../src/executors/hook-question.ts';

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
