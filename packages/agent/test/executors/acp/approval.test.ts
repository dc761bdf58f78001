import assert from 'node:assert/strict';
import test from 'node:test';
import { askAboutAction, type ShareApprovals } from '../../../src/executors/acp/approval.ts';
import type { ToolAction } from '../../../src/executors/acp/tool-action.ts';

const options = [
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
] as const;

function actionOf(
  draft: Partial<ToolAction>,
  {
    share = 'command',
    offered = options,
  }: { share?: ShareApprovals; offered?: readonly (typeof options)[number][] } = {},
) {
  const action: ToolAction = {
    key: 'k',
    kind: 'execute',
    title: '',
    toolName: '',
    mcpServer: '',
    command: '',
    paths: [],
    isInside: true,
    changes: [],
    url: '',
    ...draft,
  };
  const redact = (text: string) => text.replaceAll('s3cret', '***');
  return askAboutAction(action, offered, { tool: 'claude', share, redact }).action;
}

test('a command that a shell runs as it is has its words, with the narrow options', () => {
  assert.deepEqual(actionOf({ command: 'npm run "my task" -- --fix' }), {
    kind: 'execute',
    words: ['npm', 'run', 'my task', '--', '--fix'],
    allow: 'once',
    refuse: 'no',
  });
});

test('any other line of a shell is one text, whose beginning means nothing', () => {
  for (const command of ['npm test && rm -rf .', 'npm test\nrm x', 'npm $(rm x)', 'npm test > x']) {
    assert.deepEqual(actionOf({ command })?.words, [command]);
  }
});

test('files and addresses are compared as a whole, one at a time', () => {
  const edit = { kind: 'edit', paths: ['deploy/app.yml'] } as const;
  assert.deepEqual(actionOf(edit)?.words, ['deploy/app.yml']);
  assert.equal(actionOf({ ...edit, paths: ['a', 'b'] }), null);
  assert.equal(actionOf({ ...edit, isInside: false }), null);
  const url = 'https://docs.example.com/a b';
  assert.deepEqual(actionOf({ kind: 'fetch', url })?.words, [url]);
});

test('what a person does not see as it is, or what may mean more, is compared with nothing', () => {
  assert.equal(actionOf({ command: 'deploy --token s3cret' }), null);
  assert.equal(actionOf({ command: 'echo \ud800' }), null, 'the hub would refuse it');
  assert.equal(actionOf({ command: `echo ${'x'.repeat(8_000)}` }), null, 'too long');
  assert.equal(actionOf({ command: 'echo x'.padEnd(700, ' x') }), null, 'too many words');
  assert.equal(actionOf({ command: 'npm run a' }, { share: 'digest' }), null);
  assert.equal(actionOf({ kind: 'mcp', mcpServer: 'github', toolName: 'merge' }), null);
  assert.equal(actionOf({ kind: 'other', title: 'Something' }), null);
});

test('an option that allows more than the action is no answer of a rule', () => {
  const offered = options.filter(({ kind }) => kind === 'allow_always');
  const action = actionOf({ command: 'npm run a' }, { offered });
  assert.deepEqual([action?.allow, action?.refuse], [undefined, undefined]);
});
