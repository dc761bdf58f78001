import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  consoleEndpoints,
  endpoints,
  INTEGRATION_SECRET_HEADER,
  type ResponseOf,
} from '@signalbox/contract';
import { exchange } from '../support/http-exchange.ts';
import {
  countRows,
  type IntegrationWorld,
  NEXT_SECRET,
  SECRET,
  startIntegrationWorld,
} from '../support/integration-world.ts';
import { readKept } from '../support/test-engine.ts';

const { integrations, integrationEvents, contextItems, contextPacks, runs, jobs } = endpoints;
const { workspaceSettings } = consoleEndpoints;
const { path } = integrations.ingest;
const header = INTEGRATION_SECRET_HEADER;

type Ingested = ResponseOf<typeof integrations.ingest>;

test('an event needs a secret, and the old and the new one both work', async (t) => {
  const world = await startIntegrationWorld(t);
  const verdicts: [what: string, headers: Record<string, string>, status: number][] = [
    ['the first secret', { [header]: SECRET }, 200],
    ['the second secret', { [header]: NEXT_SECRET }, 200],
    ['no secret', {}, 401],
    ['an empty secret', { [header]: '' }, 401],
    ['another secret', { [header]: 'a lantern' }, 401],
    ['a part of it', { [header]: SECRET.slice(0, -1) }, 401],
    ['both at once', { [header]: `${SECRET},${NEXT_SECRET}` }, 401],
    ['a bearer token in its place', { authorization: `Bearer ${world.home.token}` }, 401],
  ];
  for (const [what, headers, status] of verdicts) {
    const answer = await exchange(world.hub.baseUrl, { path, body: world.event(), headers });
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    if (status === 401) assert.equal(answer.body.error, 'INTEGRATION_UNAUTHORIZED', what);
  }
  assert.equal(await countRows(world, 'integration_events'), 2);
});

test('without the setting every event is refused, before its body is read', async (t) => {
  const world = await startIntegrationWorld(t, { config: { integrationSecrets: [] } });
  for (const headers of [{}, { [header]: '' }, { [header]: SECRET }]) {
    const answer = await exchange(world.hub.baseUrl, { path, body: 'no JSON at all', headers });
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.body.error, 'INTEGRATION_UNAUTHORIZED');
  }
});

test('an event becomes a context item, a run, a job and a line of the ledger', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId, slug } = world.home;
  const trigger = await world.addTrigger();
  const answer = await world.ingest({
    workspaceId: undefined,
    workspaceSlug: slug,
    actor: 'ada@acme.dev',
    sourceRef: 'https://tracker.acme.dev/issues/4711',
    threadRef: 'issues/4711',
    occurredAt: '2026-11-02T08:59:58.000+01:00',
  });
  assert.equal(answer.duplicate, false);
  const itemId = answer.contextItemId ?? '';
  const { item } = await world.call(contextItems.get, { workspaceId, itemId });
  assert.partialDeepStrictEqual(item, {
    kind: 'event',
    trust: 'external',
    source: 'tracker',
    title: 'Load balancer needs a health check',
    text: 'Since the move the balancer has nothing to ask.',
    sourceRef: 'https://tracker.acme.dev/issues/4711',
    threadRef: 'issues/4711',
    occurredAt: '2026-11-02T07:59:58.000Z',
  });
  const [started] = answer.triggered;
  assert.equal(started?.triggerId, trigger.triggerId);
  const { run } = await world.call(runs.get, { workspaceId, runId: started?.runId ?? '' });
  assert.partialDeepStrictEqual(run, { runRef: 'issue-4711', status: 'planned', title: 'Issues' });
  const { job } = await world.call(jobs.get, { workspaceId, jobId: started?.jobId ?? '' });
  assert.partialDeepStrictEqual(job, {
    kind: 'create_run',
    runId: run.runId,
    status: 'pending',
  });
  assert.match(job.prompt, /^Plan: \[event\.title\]\n\[Untrusted text/);
  assert.match(job.prompt, /\nSince the move the balancer has nothing to ask\.\n/);
  assert.match(job.prompt, /\nLoad balancer needs a health check\n/);
  const event = await world.readEvent(answer.eventId);
  assert.partialDeepStrictEqual(event, {
    status: 'accepted',
    channel: 'ingest',
    contextItemId: itemId,
    data: { labels: ['api'], number: 4711 },
    firings: [{ triggerId: trigger.triggerId, outcome: 'started', runId: run.runId, replay: 0 }],
    unmatched: [],
  });
});

test('of 100 concurrent deliveries one is processed, and all get its answer', async (t) => {
  const world = await startIntegrationWorld(t);
  await world.addTrigger();
  await world.addTrigger({ name: 'The same again', runRefTemplate: 'other-{{event.id}}' });
  const body = world.event();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      // The other fields of a repeated delivery do not matter.
      world.sendEvent(at % 2 === 0 ? body : { ...body, type: 'issue.closed', title: 'Other' }),
    ),
  );
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const first = answers.filter(({ body: { duplicate } }) => duplicate === false);
  assert.equal(first.length, 1);
  for (const { body: answered } of answers) {
    assert.deepEqual({ ...answered, duplicate: false }, first[0]?.body);
  }
  const expected = first[0]?.body.triggered as unknown[];
  assert.ok(expected.length === 0 || expected.length === 2);
  assert.equal(await countRows(world, 'jobs'), expected.length);
  assert.equal(await countRows(world, 'runs'), expected.length);
  assert.equal(await countRows(world, 'context_items'), 1);
  assert.equal(await countRows(world, 'integration_events'), 1);
});

test('one key in two workspaces is two events', async (t) => {
  const world = await startIntegrationWorld(t);
  const other = await world.addWorkspace('other');
  const body = world.event({ idempotencyKey: 'shared' });
  const mine = await world.sendEvent(body);
  const theirs = await world.sendEvent({ ...body, workspaceId: other.workspaceId });
  assert.equal(theirs.body.duplicate, false);
  assert.notEqual(mine.body.eventId, theirs.body.eventId);
});

test('a CloudEvent is identified by its source and id, and keeps its extensions', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const match = { where: [{ path: 'extensions.priority', op: 'eq' as const, value: 'high' }] };
  await world.addTrigger({ match, runRefTemplate: 'ce-{{event.data.number}}' });
  const cloudEvent = {
    specversion: '1.0',
    id: '4711-opened',
    source: 'https://tracker.acme.dev',
    type: 'dev.acme.issue.opened',
    workspaceid: workspaceId,
    time: '2026-11-02T08:59:58Z',
    subject: 'issues/4711',
    priority: 'high',
    data: { title: 'Health check', number: 4711 },
  };
  const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
  const first = await world.sendEvent(cloudEvent, headers);
  assert.equal(first.status, 200, first.text);
  assert.equal(first.headers.get('x-ignored-fields'), null);
  assert.equal((first.body.triggered as unknown[]).length, 1);
  const again = await world.sendEvent({ ...cloudEvent, data: 'other' });
  assert.deepEqual(again.body, { ...first.body, duplicate: true });
  const other = await world.sendEvent({ ...cloudEvent, source: '/elsewhere' });
  assert.equal(other.body.duplicate, false);
  const event = await world.readEvent(String(first.body.eventId));
  assert.equal(event.title, 'dev.acme.issue.opened: issues/4711');
  assert.deepEqual(event.extensions, { priority: 'high', subject: 'issues/4711' });
  const itemId = event.contextItemId ?? '';
  const { item } = await world.call(contextItems.get, { workspaceId, itemId });
  assert.match(item.text, /"title": "Health check"/);
});

test('text in base64 is decoded, and other bytes are omitted', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const base = { specversion: '1.0', source: '/s', type: 't', workspaceid: workspaceId };
  const encoded = Buffer.from('Grüße aus dem Turm').toString('base64');
  const textOf = async (fields: Record<string, unknown>) => {
    const { body, text } = await world.sendEvent({ ...base, ...fields });
    assert.equal(body.ok, true, text);
    const itemId = String(body.contextItemId);
    return (await world.call(contextItems.get, { workspaceId, itemId })).item.text;
  };
  const markdown = { id: '1', data_base64: encoded, datacontenttype: 'text/markdown' };
  assert.equal(await textOf(markdown), 'Grüße aus dem Turm');
  assert.equal(await textOf({ id: '2', data_base64: encoded, datacontenttype: 'image/png' }), '');
});

test('an invalid event is refused with the codes of the contract', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const cloud = { specversion: '1.0', id: '1', source: '/s', type: 't', workspaceid: workspaceId };
  const refused: [what: string, body: unknown, code: string][] = [
    ['an unknown workspace', world.event({ workspaceId: 'ws_unknown' }), 'WORKSPACE_NOT_FOUND'],
    [
      'an unknown slug',
      world.event({ workspaceId: undefined, workspaceSlug: 'nowhere' }),
      'WORKSPACE_NOT_FOUND',
    ],
    ['two workspaces', world.event({ workspaceSlug: 'other' }), 'WORKSPACE_NOT_FOUND'],
    ['an unknown CloudEvent workspace', { ...cloud, workspaceid: 'x' }, 'WORKSPACE_NOT_FOUND'],
    ['no workspace', world.event({ workspaceId: undefined }), 'INVALID_REQUEST'],
    ['no key', world.event({ idempotencyKey: undefined }), 'INVALID_REQUEST'],
    ['a key with a space', world.event({ idempotencyKey: 'a b' }), 'INVALID_REQUEST'],
    ['an older CloudEvent', { ...cloud, specversion: '0.3' }, 'INVALID_REQUEST'],
    ['half a CloudEvent', world.event({ specversion: '1.0' }), 'INVALID_REQUEST'],
    ['data twice', { ...cloud, data: 1, data_base64: 'YQ==' }, 'INVALID_REQUEST'],
    ['bad base64', { ...cloud, data_base64: '#' }, 'INVALID_REQUEST'],
    ['an invalid hour', world.event({ occurredAt: '2026-11-02T25:00:00Z' }), 'INVALID_REQUEST'],
    ['no JSON', '{', 'INVALID_JSON'],
    ['nothing', {}, 'INVALID_REQUEST'],
    ['too much', world.event({ content: 'x'.repeat(262_144) }), 'BODY_TOO_LARGE'],
  ];
  await world.addWorkspace('other');
  for (const [what, body, code] of refused) {
    const answer = await world.sendEvent(body);
    assert.equal(answer.body.error, code, `${what}: ${answer.text}`);
  }
  const headers = { 'content-type': 'application/cloudevents-batch+json' };
  assert.equal((await world.sendEvent([cloud], headers)).body.error, 'INVALID_REQUEST');
  const elsewhere = await exchange(world.hub.baseUrl, {
    path: endpoints.workspaces.resolve.path,
    token: world.home.token,
    body: { slug: 'home' },
    headers: { 'content-type': 'application/cloudevents+json' },
  });
  assert.equal(elsewhere.body.error, 'INVALID_REQUEST', 'only events may come as CloudEvents');
  assert.equal(await countRows(world, 'integration_events'), 0);
});

test('the newest event with a reference supersedes only the previous one', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const sourceRef = 'issues/1';
  const textsOf = async () => {
    const { items } = await world.call(contextItems.list, { workspaceId, source: 'tracker' });
    const read = items.map(({ itemId }) => world.call(contextItems.get, { workspaceId, itemId }));
    return (await Promise.all(read)).map(({ item }) => item.text).sort();
  };
  await world.ingest({ sourceRef, content: 'first', occurredAt: '2026-11-02T08:00:00Z' });
  await world.ingest({ sourceRef, content: 'second', occurredAt: '2026-11-02T08:10:00Z' });
  assert.deepEqual(await textsOf(), ['second']);
  await world.ingest({ sourceRef, content: 'late', occurredAt: '2026-11-02T08:05:00Z' });
  assert.deepEqual(await textsOf(), ['second'], 'an older event is kept as superseded');
  const note = { workspaceId, source: 'tracker', sourceRef: 'note', text: 'by a person' };
  await world.call(contextItems.upsert, { ...note, kind: 'note' });
  await world.ingest({ sourceRef: 'note', content: 'an event' });
  assert.deepEqual(await textsOf(), ['an event', 'by a person', 'second']);
});

const storages = ['full', 'excerpt', 'metadata'] as const;
for (const contentStorage of storages) {
  test(`with the policy ${contentStorage} no secret of an event is on the disk`, async (t) => {
    const world = await startIntegrationWorld(t);
    const { workspaceId } = world.home;
    const dataPolicy = { contentStorage };
    await world.atConsole(workspaceSettings.update, { workspaceId, dataPolicy });
    const canary = `ghp_${'c4naryC4nary'.repeat(3)}`;
    const hidden = 'lanternC4nary77';
    const far = 'word-far-behind-the-excerpt';
    await world.addTrigger({
      promptTemplate:
        '{{event.title}} {{event.content}} {{event.data.note}} {{event.data.password}}',
      runRefTemplate: 'run-{{event.data.note}}',
    });
    const { eventId, triggered } = await world.ingest({
      title: `Leaked ${canary}`,
      content: `The key is ${canary}. ${'x'.repeat(1_500)} ${far}`,
      actor: canary,
      source: 'tracker',
      sourceRef: `https://ada:${hidden}@tracker.acme.dev/1`,
      threadRef: canary,
      idempotencyKey: canary,
      data: { note: `again ${canary}`, password: hidden, [canary]: 1 },
    });
    assert.equal(triggered.length, 1);
    const kept = await readKept(world.dataDir);
    assert.equal(kept.includes(canary), false);
    assert.equal(kept.includes(hidden), false);
    assert.equal(kept.includes(far), contentStorage === 'full');
    const event = await world.readEvent(eventId);
    assert.equal(event.title, 'Leaked [redacted]');
    assert.equal(event.data === null, contentStorage !== 'full');
  });
}

test('conditions see the whole event, and templates only its stored part', async (t) => {
  const world: IntegrationWorld = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  const dataPolicy = { contentStorage: 'metadata' as const };
  await world.atConsole(workspaceSettings.update, { workspaceId, dataPolicy });
  const where = [{ path: 'data.labels', op: 'contains' as const, value: 'api' }];
  await world.addTrigger({
    match: { where },
    promptTemplate: 'Look: {{event.title}}{{event.content}}',
  });
  const { triggered, eventId } = await world.ingest();
  const jobId = triggered[0]?.jobId ?? '';
  const { job } = await world.call(jobs.get, { workspaceId, jobId });
  assert.match(job.prompt, /^Look: \[event\.title\]\n/);
  assert.equal(job.prompt.includes('the balancer has nothing to ask'), false);
  const runId = triggered[0]?.runId ?? '';
  const { run } = await world.call(runs.get, { workspaceId, runId });
  assert.equal(run.runRef, `issue-${eventId}`, 'a missing value does not make events share a run');
});

/** The longest allowed text, of searchable words and of secrets that redaction makes longer. */
function fill(chars: number): string {
  return 'lantern token=abcdef '.repeat(Math.ceil(chars / 21)).slice(0, chars);
}

test('an event of the maximum length is returned by every read of events and items', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  await world.addTrigger({ match: {}, promptTemplate: '{{event.source}} {{event.actor}}' });
  const own = {
    source: fill(1_000),
    type: fill(255),
    actor: fill(300),
    threadRef: fill(1_000),
    sourceRef: fill(2_000),
    content: fill(20_000),
  };
  const cloudEvent = {
    specversion: '1.0',
    id: fill(255),
    source: `${fill(999)}/`,
    type: fill(255),
    workspaceid: workspaceId,
    subject: fill(1_000),
    data: { note: fill(20_000) },
  };
  const bodies = [
    world.event({ ...own, title: fill(1_000) }),
    world.event({ ...own, source: `${fill(999)}.`, title: undefined }),
    cloudEvent,
  ];
  // The harness validates every answer against its schema.
  for (const body of bodies) {
    const answer = await world.sendEvent(body);
    assert.equal(answer.status, 200, answer.text);
    const { eventId, contextItemId: itemId, triggered } = answer.body as Ingested;
    const { jobId, runId } = triggered[0] ?? {};
    await world.readEvent(eventId);
    await world.call(contextItems.get, { workspaceId, itemId: itemId ?? '' });
    await world.call(jobs.get, { workspaceId, jobId: jobId ?? '' });
    await world.call(contextPacks.buildRunV1, { workspaceId, runId: runId ?? '' });
    const resolve = { workspaceId, runId: runId ?? '' };
    await world.call(contextPacks.resolveRunV1, resolve);
    await world.call(contextPacks.resolveRunV1, { ...resolve, format: 'markdown' });
  }
  const found = await Promise.all([
    world.call(contextItems.list, { workspaceId }),
    world.call(contextItems.search, { workspaceId, query: 'lantern' }),
  ]);
  assert.deepEqual(
    found.map(({ items }) => items.length),
    [3, 3],
  );
  const { events } = await world.call(integrationEvents.list, { workspaceId });
  assert.equal(events.length, 3);
});

test('references and sources of the maximum length are stored, found and replaced', async (t) => {
  const world = await startIntegrationWorld(t);
  const { workspaceId } = world.home;
  // Incompressible and three bytes each, so that they exceed an index entry of PostgreSQL.
  const letters = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => String.fromCodePoint(from + i)).join('');
  const long = {
    source: letters(0x5e00, 1_000),
    sourceRef: letters(0x4e00, 2_000),
    threadRef: letters(0x4e00, 1_000),
  };
  const [first, again] = await Promise.all([world.ingest(long), world.ingest(long)]);
  assert.equal(again.contextItemId, first.contextItemId, 'the second replaces the first');
  const other = await world.ingest({ ...long, sourceRef: `${long.sourceRef.slice(0, -1)}x` });
  await world.ingest({ ...long, sourceRef: 'short', threadRef: `${long.threadRef.slice(0, -1)}x` });
  const { items } = await world.call(contextItems.list, {
    workspaceId,
    threadRef: long.threadRef,
  });
  const ids = new Set(items.map(({ itemId }) => itemId));
  assert.deepEqual(ids, new Set([first.contextItemId, other.contextItemId]));
  assert.equal(await countRows(world, 'integration_events'), 4);
});
