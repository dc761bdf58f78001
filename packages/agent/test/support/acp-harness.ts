import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Job, JobEvent, JobMessage, Uncertainty } from '@signalbox/contract';
import { createHub, readConfig } from '@signalbox/hub';
import { findFreePort } from '@signalbox/local-postgres';
import { type Client, createClient } from '@signalbox/sdk';
import {
  type AcpExecutorOptions,
  type AgentOptions,
  createAcpExecutor,
  type RunningAgent,
  startAgent,
} from '../../src/index.ts';
import { makeRepository } from './harness.ts';

export const scriptedAgent = join(import.meta.dirname, 'acp-agent.ts');

export interface AcpSetup {
  directory: string;
  clone: string;
  client: Client;
  workspaceId: string;
  repoId: string;
  baseUrl: string;
  env: NodeJS.ProcessEnv;
  /** Enqueues a job whose prompt is a script. */
  enqueue(script: string, kind?: Job['kind']): Promise<string>;
  start(options?: AcpStart): Promise<RunningAgent>;
  /** Waits until a job has one of these statuses. */
  until(jobId: string, ...statuses: Job['status'][]): Promise<Job>;
  /** Waits for the first event of a kind, and returns its message. */
  untilEvent(jobId: string, kind: JobEvent['kind']): Promise<string>;
  /** Waits until the first message to a job has a state. */
  untilMessage(jobId: string, state: JobMessage['state']): Promise<void>;
  /** Waits for the open questions of a job. */
  questions(jobId: string, count?: number): Promise<Uncertainty[]>;
  /** All questions of a job, open or not. */
  allQuestions(jobId: string): Promise<Uncertainty[]>;
  answer(question: Uncertainty, value: string): Promise<void>;
  /** The lines that the scripted tool has written. */
  toolLog(): string[];
  /** Waits until the tool has written a line. */
  untilTool(pattern: RegExp): Promise<void>;
  /** The output of a job. */
  output(jobId: string): Promise<string>;
  stopHub(): Promise<void>;
  startHub(): Promise<void>;
}

export interface AcpStart extends Partial<AgentOptions> {
  acp?: Partial<AcpExecutorOptions>;
}

/**
 * A real hub, a clone, and agents whose tool is the scripted one.
 *
 * @param isHubApart the hub is a process of its own, which `stopHub` kills.
 */
export async function setupAcp(t: TestContext, isHubApart = false): Promise<AcpSetup> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-acp-'));
  const clone = join(directory, 'clone');
  await makeRepository(clone);
  const port = await findFreePort();
  const hubSettings = {
    SVC_PORT: String(port),
    SVC_LOG_LEVEL: 'silent',
    SVC_DEV_ALLOW_UNAUTH: 'true',
    SVC_DATA_DIR: join(directory, 'hub'),
  };
  let stop = async () => {};
  const startHub = async () => {
    stop = await (isHubApart ? startHubApart : startHubHere)(hubSettings);
  };
  const stopHub = () => stop();
  await startHub();
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl });
  const { workspaceId } = await client.workspaces.resolve({ slug: 'dev' });
  assert.ok(workspaceId);
  const remoteUrlHash = 'a'.repeat(64);
  const { repoId } = await client.repositories.upsert({ workspaceId, remoteUrlHash, label: 'x' });
  const agents: RunningAgent[] = [];
  t.after(async () => {
    await Promise.allSettled(agents.map((agent) => agent.stop()));
    await stopHub();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const env = { ...process.env, ACP_SCRIPT_DIR: join(directory, 'tool') };
  const logFile = join(directory, 'tool', 'log');
  const get = async (jobId: string) => (await client.jobs.get({ workspaceId, jobId })).job;
  const setup: AcpSetup = {
    directory,
    clone,
    client,
    workspaceId,
    repoId,
    baseUrl,
    env,
    startHub,
    stopHub,
    async enqueue(prompt, kind = 'work') {
      return (await client.jobs.enqueue({ workspaceId, repoId, kind, prompt })).jobId;
    },
    async start({ acp = {}, ...options } = {}) {
      const agent = await startAgent({
        baseUrl,
        workspaceId,
        displayName: 'agent',
        env,
        killGraceMs: 500,
        flushMs: 500,
        repositories: [{ repoId, path: clone }],
        stateDir: join(directory, `state-${agents.length}`),
        executor: createAcpExecutor({ agent: `${process.execPath} ${scriptedAgent}`, ...acp }),
        random: () => 0.05,
        ...options,
      });
      agents.push(agent);
      return agent;
    },
    until: (jobId, ...statuses) =>
      poll(`${jobId} to be ${statuses.join(' or ')}`, async () => {
        const job = await get(jobId);
        if (statuses.includes(job.status)) return job;
        // The reason is worth more than three minutes of waiting.
        assert.ok(!endStatuses.has(job.status), `${jobId} is ${job.status}: ${job.message}`);
        return null;
      }),
    untilEvent: (jobId, kind) =>
      poll(`the event ${kind}`, async () => {
        const page = await client.jobEvents.listForJob({ workspaceId, jobId, limit: 1_000 });
        const found = page.events.find((event) => event.kind === kind);
        return found === undefined ? null : (found.message ?? '');
      }),
    async untilMessage(jobId, state) {
      await poll(`a message to be ${state}`, async () => {
        const { messages } = await client.jobs.get({ workspaceId, jobId });
        return messages?.[0]?.state === state ? true : null;
      });
    },
    questions: (jobId, count = 1) =>
      poll(`${count} questions`, async () => {
        const { uncertainties } = await client.uncertainties.list({
          workspaceId,
          jobId,
          status: 'open',
        });
        // The whole view was asked for.
        return uncertainties.length >= count ? (uncertainties as Uncertainty[]) : null;
      }),
    async allQuestions(jobId) {
      // The whole view was asked for.
      return (await client.uncertainties.list({ workspaceId, jobId }))
        .uncertainties as Uncertainty[];
    },
    async answer({ uncertaintyId }, value) {
      await client.uncertainties.addResolution({
        workspaceId,
        uncertaintyId,
        mode: 'answered',
        value,
        confidence: 1,
      });
    },
    toolLog: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8').split('\n') : []),
    async untilTool(pattern) {
      await poll(`the tool to write ${pattern}`, async () =>
        setup.toolLog().some((line) => pattern.test(line)) ? true : null,
      );
    },
    async output(jobId) {
      const events: JobEvent[] = [];
      for (let after = 0; ; ) {
        const page = await client.jobEvents.listForJob({ workspaceId, jobId, after, limit: 1_000 });
        events.push(...page.events);
        if (page.events.length === 0) break;
        after = page.nextAfter;
      }
      return events
        .filter(({ kind }) => kind === 'log')
        .map(({ message }) => message)
        .join('');
    },
  };
  return setup;
}

type HubStart = (settings: NodeJS.ProcessEnv) => Promise<() => Promise<void>>;

const startHubHere: HubStart = async (settings) => {
  const hub = await createHub({ config: readConfig(settings) });
  await hub.listen();
  return () => hub.stop();
};

const startHubApart: HubStart = async (settings) => {
  const script = join(import.meta.dirname, 'hub-apart.ts');
  const env = { ...process.env, ...settings };
  const hub = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(hub, 'exit');
  await once(hub.stdout, 'data');
  return async () => {
    hub.kill('SIGKILL');
    await ended;
  };
};

/** A job leaves these only by a retry, which the tests do not make. */
const endStatuses: ReadonlySet<Job['status']> = new Set(['done', 'failed', 'canceled']);
const LIMIT_MS = 180_000;
/** Each look is a request, and the hub answers in this process. */
const LOOK_MS = 100;

/** Looks again until there is something. */
export async function poll<Found>(what: string, look: () => Promise<Found | null>): Promise<Found> {
  const untilMs = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > untilMs) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
