import assert from 'node:assert/strict';
import test from 'node:test';
import type { ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import { AcpReader } from '../../../src/executors/acp/acp-messages.ts';
import { describeAction } from '../../../src/executors/acp/tool-action.ts';
import { createPermissionPolicy } from '../../../src/executors/permissions/permission-policy.ts';

const cwd = '/srv/agent/w';
const redact = (text: string) => text;
const scope = { agent: 'gemini', repoId: 'r', clonePath: '/src/r', isReadOnly: false };

/** The verdict of the default rules on a permission as Gemini CLI asks for it (e2e/tools). */
function decide(call: Partial<ToolCallUpdate>): string {
  const reader = new AcpReader({ cwd, share: 'stat', redact });
  const asked: ToolCallUpdate = { toolCallId: 'call_1', status: 'pending', content: [], ...call };
  return createPermissionPolicy().decide(describeAction(reader.mergeCall(asked), cwd), scope);
}

test("Gemini CLI: the job's own tools need no permission of a person", () => {
  assert.equal(decide({ title: 'ask_person (signalbox MCP Server)', kind: 'other' }), 'allow');
});

test('Gemini CLI: nothing else passes as a tool of the job', () => {
  const title = 'ask_person (signalbox MCP Server)';
  for (const call of [
    { title: 'ask_person (other MCP Server)', kind: 'other' },
    { title: `x (${title})`, kind: 'other' },
    { title: `ask (x) (signalbox MCP Server)`, kind: 'other' },
    { title, kind: 'execute' },
    { title, kind: 'fetch' },
    { title, kind: 'other', rawInput: { command: 'rm -rf .' } },
    { title, kind: 'other', name: 'activate_skill' },
  ] as const) {
    assert.equal(decide(call), 'ask', JSON.stringify(call));
  }
});
