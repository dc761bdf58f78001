import assert from 'node:assert/strict';
import { AGENT_OFFLINE_AFTER_MS, type Agent, endpoints } from '@signalbox/contract';
import { runScenarios } from '../support/api-scenario.ts';
import type { World } from '../support/api-world.ts';

const { agents } = endpoints;

const beat = (fields: Record<string, unknown>) => (world: World) => ({
  workspaceId: world.home.workspaceId,
  machineFingerprint: 'machine-1',
  ...fields,
});

runScenarios('agents/heartbeat', [
  {
    name: 'registers an agent with nothing but a fingerprint',
    endpoint: agents.heartbeat,
    body: beat({}),
    expect: {
      body: { intervalMs: 15_000, commands: [] },
      check: ({ agentId }) => assert.match(String(agentId), /^agt_/),
    },
  },
  {
    name: 'keeps unknown capabilities and names them',
    endpoint: agents.heartbeat,
    body: beat({ machineFingerprint: 'machine-2', capabilities: { gpu: 'a100' } }),
    expect: {
      headers: { 'x-ignored-fields': 'capabilities.gpu' },
      async check({ agentId }, { call, home }) {
        const { agents: list } = await call(agents.list, { workspaceId: home.workspaceId });
        const made = list.find((agent) => agent.agentId === agentId);
        assert.deepEqual(made?.capabilities, { gpu: 'a100' });
      },
    },
  },
  {
    name: 'gives another principal of the same machine an agent of its own',
    endpoint: agents.heartbeat,
    credential: 'agentOnly',
    body: beat({ machineFingerprint: 'home-machine' }),
    expect: { check: ({ agentId }, { agentId: first }) => assert.notEqual(agentId, first) },
  },
  {
    name: 'gives the same principal and machine the same agent',
    endpoint: agents.heartbeat,
    body: beat({ machineFingerprint: 'home-machine', capabilities: { canWrite: true } }),
    expect: { body: ({ agentId }) => ({ agentId }) },
  },
  {
    name: 'refuses an unknown status',
    endpoint: agents.heartbeat,
    body: beat({ status: 'asleep' }),
    expect: { error: 'INVALID_REQUEST', contains: ['online, draining, offline'] },
  },
  {
    name: 'refuses capabilities of the wrong form and says which',
    endpoint: agents.heartbeat,
    body: beat({ capabilities: { models: 'claude' } }),
    expect: { error: 'INVALID_REQUEST', contains: ['/capabilities/models'] },
  },
  {
    name: 'refuses an empty fingerprint',
    endpoint: agents.heartbeat,
    body: beat({ machineFingerprint: '' }),
    expect: { error: 'INVALID_REQUEST', contains: ['/machineFingerprint'] },
  },
]);

runScenarios('agents/list', [
  {
    name: 'shows the agents of the workspace and no others',
    endpoint: agents.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId }),
    expect: {
      body: { nextCursor: null },
      check(body, { agentId }) {
        const list = body.agents as Agent[];
        assert.deepEqual(
          list.map((agent) => [agent.agentId, agent.status]),
          [[agentId, 'online']],
        );
      },
    },
  },
  {
    name: 'shows an agent as offline after 45 seconds of silence',
    endpoint: agents.list,
    credential: 'viewer',
    body({ home, clock }) {
      clock.advance(AGENT_OFFLINE_AFTER_MS);
      return { workspaceId: home.workspaceId };
    },
    expect: { contains: ['"status":"offline"'], absent: ['"status":"online"'] },
  },
]);
