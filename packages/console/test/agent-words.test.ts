import type { Agent, StandingCommand } from '@signalbox/contract';
import { expect, test } from 'vitest';
import { commandOutlook, commandWords, pauseWords } from '../src/format/agent-words.ts';
import { isolationWords } from '../src/format/tool-words.ts';

const standing: StandingCommand = {
  command: 'drain',
  number: 1,
  state: 'asked',
  reason: null,
  askedBy: 'usr_1',
  askedByName: 'Ada',
  acknowledgedAt: null,
  expiresAt: null,
  askedAt: '2026-11-02T09:00:00.000Z',
};

function agent(command: Partial<StandingCommand>, more: Partial<Agent> = {}): Agent {
  return {
    agentId: 'agt_1',
    workspaceId: 'ws_1',
    displayName: 'build-7',
    machineFingerprint: 'f',
    principalId: 'service:ci',
    status: 'online',
    capabilities: {},
    repoIds: [],
    held: [],
    heldCount: 0,
    agentVersion: null,
    platform: null,
    arch: null,
    lastSeenAt: standing.askedAt,
    createdAt: standing.askedAt,
    command: { ...standing, ...command },
    ...more,
  };
}

test.each([
  [{ state: 'asked' }, 'Asked to drain'],
  [{ state: 'asked', command: 'stop-now' }, 'Asked to stop now'],
  [{ state: 'drained' }, 'Drained'],
  [{ state: 'expired', command: 'stop' }, 'Stop expired'],
] as const)('the state %j is said as %s', (command, words) => {
  expect(commandWords({ ...standing, ...command })).toBe(words);
});

test('an offline agent gets a drain when it comes back, and a stop within an hour', () => {
  expect(commandOutlook(agent({}, { status: 'offline' }))).toMatch(/when it comes back/);
  const stop = agent({ command: 'stop' }, { status: 'offline' });
  expect(commandOutlook(stop)).toMatch(/for an hour, then it expires/);
});

test('a stop says which jobs are finished first, and a stop now that they go back', () => {
  const stopping = { command: 'stop', state: 'stopping' } as const;
  expect(commandOutlook(agent(stopping, { heldCount: 2 }))).toMatch(/the 2 jobs .*; then/);
  expect(commandOutlook(agent(stopping))).toBe('Its process ends.');
  const now = { command: 'stop-now', state: 'stopping' } as const;
  expect(commandOutlook(agent(now, { heldCount: 1 }))).toMatch(/gives its jobs back/);
});

test('a pause is named with its reason until it is over, unless the agent is offline', () => {
  const until = '2026-11-02T14:02:00.000Z';
  const nowMs = Date.parse(until) - 60_000;
  const paused = (code: string, more: Partial<Agent> = {}) =>
    agent({}, { capabilities: { paused: { code, message: 'Try later.\u202e', until } }, ...more });
  expect(pauseWords(paused('usage_limit'), nowMs)).toEqual({
    reason: 'Usage limit of the provider',
    until: new Date(until).toLocaleTimeString('en-GB', { timeStyle: 'short' }),
    message: 'Try later.\ufffd',
    tool: null,
  });
  expect(pauseWords(paused('a_new_code'), nowMs)?.reason).toBe('Paused by itself');
  expect(pauseWords(paused('usage_limit'), nowMs + 60_000)).toBeNull();
  expect(pauseWords(paused('usage_limit', { status: 'offline' }), nowMs)).toBeNull();
  expect(pauseWords(agent({}), nowMs)).toBeNull();
  const pause = { code: 'usage_limit', message: 'Try later.', until, tool: 'claude' };
  const pauses = [{ ...pause, repoIds: ['repo_1'] }];
  expect(pauseWords(agent({}, { capabilities: { pauses } }), nowMs)?.tool).toBe('claude');
});

test.each([
  [[], ''],
  [[{ name: 'claude' }], ''],
  [[{ name: 'claude', isolation: ['user', 'wrap'] }], 'user and wrap'],
  [[{ name: 'claude', isolation: [] }], 'none'],
  [
    [
      { name: 'claude', isolation: [] },
      { name: 'codex', isolation: ['tool'] },
    ],
    'claude: none, codex: tool',
  ],
])('the isolation of the tools %j is said as %s', (tools, words) => {
  expect(isolationWords(agent({}, { capabilities: { tools } }))).toBe(words);
});
