import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CloudAiJob, endpoints, RequestOf } from '@signalbox/contract';
import { createHub, type Hub, readConfig } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import {
  type CloudAiAgentOptions,
  type CloudAiEvent,
  type CloudAiProviderOptions,
  createCloudAiProvider,
  type RunningCloudAiAgent,
  startCloudAiAgent,
} from '../../src/index.ts';
import { FakeProvider } from './fake-provider.ts';

type Draft = Partial<RequestOf<typeof endpoints.cloudAiJobs.enqueue>>;
type EventType = CloudAiEvent['type'];
type EventOf<T extends EventType> = Extract<CloudAiEvent, { type: T }>;

export interface CloudAiSetup {
  hub: Hub;
  client: Client;
  workspaceId: string;
  provider: FakeProvider;
  directory: string;
  events: CloudAiEvent[];
  enqueue(draft?: Draft): Promise<string>;
  get(cloudAiJobId: string): Promise<CloudAiJob>;
  /** Starts an executor, with Anthropic's protocol by default. */
  start(
    options?: Partial<CloudAiAgentOptions>,
    provider?: Partial<CloudAiProviderOptions>,
  ): Promise<RunningCloudAiAgent>;
  /** Resolves with the first past or future event of a type that matches. */
  saw<T extends EventType>(type: T, fits?: (event: EventOf<T>) => boolean): Promise<EventOf<T>>;
  /** Enqueues a job, waits until its result is accepted, and returns the job. */
  finish(draft?: Draft): Promise<CloudAiJob>;
}

/** A real hub in development mode, a fake provider over real HTTP, and the files of an executor. */
export async function setupCloudAi(t: TestContext): Promise<CloudAiSetup> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-cloud-ai-'));
  const provider = new FakeProvider();
  await provider.start();
  const config = readConfig({
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'silent',
    SVC_DEV_ALLOW_UNAUTH: 'true',
    SVC_DATA_DIR: join(directory, 'hub'),
  });
  const hub = await createHub({ config });
  await hub.listen();
  const client = createClient({ baseUrl: hub.baseUrl });
  const { workspaceId } = await client.workspaces.resolve({ slug: 'dev' });
  assert.ok(workspaceId);
  const agents: RunningCloudAiAgent[] = [];
  t.after(async () => {
    await Promise.allSettled(agents.map((agent) => agent.stop()));
    await hub.stop();
    await provider.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const { events, emit, saw } = createEventLog();
  const input = { system: 'Be short.', messages: [{ role: 'user' as const, content: 'Yes?' }] };

  const setup: CloudAiSetup = {
    hub,
    client,
    workspaceId,
    provider,
    directory,
    events,
    saw,
    async enqueue(draft = {}) {
      const body = { workspaceId, kind: 'ask', input, ...draft };
      return (await client.cloudAiJobs.enqueue(body)).cloudAiJobId;
    },
    async get(cloudAiJobId) {
      return (await client.cloudAiJobs.get({ workspaceId, cloudAiJobId })).cloudAiJob;
    },
    async start(options = {}, providerOptions = {}) {
      const agent = await startCloudAiAgent({
        baseUrl: hub.baseUrl,
        workspaceId,
        displayName: 'executor',
        provider: await createCloudAiProvider({
          name: 'anthropic',
          apiKey: provider.key,
          baseUrl: provider.baseUrl,
          ...providerOptions,
        }),
        models: ['sonnet', 'haiku'],
        stateDir: join(directory, `state-${agents.length}`),
        secrets: [provider.key],
        // Almost no jitter: minimal delays, so that tests wait for events only.
        random: () => 0.01,
        onEvent: emit,
        ...options,
      });
      agents.push(agent);
      return agent;
    },
    async finish(draft) {
      const id = await setup.enqueue(draft);
      await saw('result-accepted', ({ cloudAiJobId }) => cloudAiJobId === id);
      return setup.get(id);
    },
  };
  return setup;
}

function createEventLog() {
  const events: CloudAiEvent[] = [];
  const watchers = new Set<() => void>();
  function emit(event: CloudAiEvent): void {
    events.push(event);
    for (const watcher of [...watchers]) watcher();
  }
  function saw<T extends EventType>(
    type: T,
    fits: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    const { promise, resolve } = Promise.withResolvers<EventOf<T>>();
    const look = () => {
      // The event's type determines its member of the union.
      const found = events.find((event) => event.type === type && fits(event as EventOf<T>));
      if (found === undefined) return;
      watchers.delete(look);
      resolve(found as EventOf<T>);
    };
    watchers.add(look);
    look();
    return promise;
  }
  return { events, emit, saw };
}
