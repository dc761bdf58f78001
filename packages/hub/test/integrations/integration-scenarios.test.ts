import { type Endpoint, endpoints } from '@signalbox/contract';
import { compareIdAnswers, type IdQuestion, runScenarios } from '../support/api-scenario.ts';
import { CANARY } from '../support/api-world.ts';
import { addEvent, addTriggerRow } from '../support/ledger-setup.ts';

const { integrationEvents, triggers, integrations } = endpoints;
const unknown = '0199d1c0f1007000a1b2c3d4e5f60000';

runScenarios('the ledger of events', [
  {
    name: 'a token that may read lists the events of its workspace, newest first',
    endpoint: integrationEvents.list,
    credential: 'readOnly',
    async body(world) {
      await addEvent(world, world.other, CANARY);
      await addEvent(world, world.home, 'the older');
      await addEvent(world, world.home, 'the newer');
      return { workspaceId: world.home.workspaceId };
    },
    expect: {
      body: { events: [{ title: 'the newer', status: 'accepted' }, { title: 'the older' }] },
      check({ events }) {
        if ((events as unknown[]).length !== 2) throw new Error('there are two events');
      },
      absent: ['key_hash', 'the newer"}'],
    },
  },
  {
    name: 'a filter omits events that do not match',
    endpoint: integrationEvents.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, source: 'the older' }),
    expect: { contains: ['the older'], absent: ['the newer'] },
  },
  {
    name: 'a page is followed by the next',
    endpoint: integrationEvents.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, limit: 1 }),
    expect: { contains: ['the newer', '"nextCursor":"'], absent: ['the older'] },
  },
  {
    name: 'an unknown status is refused',
    endpoint: integrationEvents.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, status: 'lost' }),
    expect: { error: 'INVALID_REQUEST' },
  },
  {
    name: 'an event is read with its data',
    endpoint: integrationEvents.get,
    credential: 'integrateOnly',
    body: async (world) => ({
      workspaceId: world.home.workspaceId,
      eventId: await addEvent(world, world.home, 'looked at'),
    }),
    expect: { body: { event: { title: 'looked at', data: { text: 'looked at' }, firings: [] } } },
  },
  {
    name: 'a token for integrations replays and gets the parts that did not match',
    endpoint: integrationEvents.replay,
    credential: 'integrateOnly',
    async body(world) {
      await addTriggerRow(world, world.home);
      return {
        workspaceId: world.home.workspaceId,
        eventId: await addEvent(world, world.home),
      };
    },
    expect: { body: { replay: 1, firings: [], unmatched: [{ failed: 'type' }] } },
  },
  {
    name: 'a bearer token does not count as the secret of an integration',
    endpoint: integrations.ingest,
    body: ({ home }) => ({
      workspaceId: home.workspaceId,
      idempotencyKey: 'k',
      source: 's',
      type: 't',
    }),
    expect: { error: 'INTEGRATION_UNAUTHORIZED' },
  },
  {
    name: 'a bearer token does not count as a signature of the chat',
    endpoint: integrations.chatEvents,
    body: { type: 'url_verification', challenge: 'c' },
    expect: { error: 'INTEGRATION_UNAUTHORIZED', absent: ['challenge'] },
  },
]);

runScenarios('reading triggers', [
  {
    name: 'a token that may read lists the triggers of its workspace',
    endpoint: triggers.list,
    credential: 'readOnly',
    async body(world) {
      await addTriggerRow(world, world.other, CANARY);
      await addTriggerRow(world, world.home, 'mine');
      return { workspaceId: world.home.workspaceId, type: 'event' };
    },
    expect: { body: { triggers: [{ name: 'mine', enabled: true }], nextCursor: null } },
  },
  {
    name: 'the list of event triggers contains no schedules',
    endpoint: triggers.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, type: 'schedule' }),
    expect: { absent: ['mine'] },
  },
  {
    name: 'an unknown type is refused',
    endpoint: triggers.list,
    body: ({ home }) => ({ workspaceId: home.workspaceId, type: 'webhook' }),
    expect: { error: 'INVALID_REQUEST' },
  },
]);

const { get, replay } = integrationEvents;
// Created on the request for the unknown id, which comes first.
let foreignTrigger = '';
let foreignEvent = '';

const eventQuestions = [get, replay].map(
  (endpoint): IdQuestion => ({
    endpoint: endpoint as Endpoint,
    field: 'eventId',
    unknown: `ing_${unknown}`,
    foreign: () => foreignEvent,
    error: 'EVENT_NOT_FOUND',
    async body(world, eventId) {
      foreignEvent = await addEvent(world, world.other, CANARY);
      return { workspaceId: world.home.workspaceId, eventId };
    },
  }),
);

compareIdAnswers('unknown and foreign triggers and events get the same answer', [
  {
    endpoint: triggers.get,
    field: 'triggerId',
    unknown: `trg_${unknown}`,
    foreign: () => foreignTrigger,
    error: 'TRIGGER_NOT_FOUND',
    async body(world, triggerId) {
      foreignTrigger = await addTriggerRow(world, world.other, CANARY);
      return { workspaceId: world.home.workspaceId, triggerId };
    },
  },
  {
    endpoint: triggers.listFirings,
    field: 'triggerId',
    unknown: `trg_${unknown}`,
    foreign: () => foreignTrigger,
    error: 'TRIGGER_NOT_FOUND',
    async body(world, triggerId) {
      foreignTrigger = await addTriggerRow(world, world.other, CANARY);
      return { workspaceId: world.home.workspaceId, triggerId };
    },
  },
  {
    endpoint: integrationEvents.testTrigger,
    field: 'triggerId',
    unknown: `trg_${unknown}`,
    foreign: () => foreignTrigger,
    error: 'TRIGGER_NOT_FOUND',
    async body(world, triggerId) {
      foreignTrigger = await addTriggerRow(world, world.other, CANARY);
      const eventId = await addEvent(world, world.home);
      return { workspaceId: world.home.workspaceId, eventId, triggerId };
    },
  },
  {
    endpoint: integrationEvents.testTrigger,
    field: 'eventId',
    unknown: `ing_${unknown}`,
    foreign: () => foreignEvent,
    error: 'EVENT_NOT_FOUND',
    async body(world, eventId) {
      foreignEvent = await addEvent(world, world.other, CANARY);
      const triggerId = await addTriggerRow(world, world.home);
      return { workspaceId: world.home.workspaceId, eventId, triggerId };
    },
  },
  ...eventQuestions,
]);
