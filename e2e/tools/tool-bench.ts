import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Activity, JobKind } from '@signalbox/contract';
import type { ProcessEnd } from '../../scripts/process/start-process.ts';
import { configFlag, createMachine, logIn, type Machine, runJson } from '../cli-process.ts';
import { makeClone } from '../git-clone.ts';
import { type HubProcess, startHubProcess } from '../hub-process.ts';
import { callConsole, makeOwner, owner, type SignedIn } from '../person.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { makeToolPlace, type ToolPlace, type ToolPlaceOptions } from './tool-place.ts';
import type { ToolName } from './tool-table.ts';
import type { Turn } from './turns.ts';

/** A hub, a scripted model, and a machine with real coding tools and one linked clone. */
export interface ToolBench {
  readonly folder: string;
  readonly hub: HubProcess;
  readonly person: SignedIn;
  readonly model: ScriptedModel;
  readonly proxy: RecordingProxy;
  readonly place: ToolPlace;
  readonly machine: Machine;
  readonly clone: string;
  /** The same machine with other variables. */
  machineWith(env: Readonly<Record<string, string>>): Machine;
  /** Enqueues a job and returns its ID. */
  enqueue(prompt: string, kind?: JobKind, more?: { budget?: object }): Promise<string>;
  /** Runs one job with an agent of `agent start --once`, and returns what became of it. */
  work(tool: 'claude' | 'codex', prompt: string, options?: WorkOptions): Promise<Worked>;
  readJob(jobId: string): Promise<JobAnswer>;
  /** Cancels a job as its owner does, so that no later agent takes it. */
  cancel(jobId: string): Promise<void>;
  /** Asserts that the model expected every request, and that nothing else was contacted. */
  checkRequests(): void;
  close(): Promise<void>;
}

export interface WorkOptions {
  /** Turns of the scenario `job`, which is then named in the prompt. */
  turns?: readonly Turn[];
  kind?: JobKind;
  /** Settings of the tool, such as `allow`. */
  tool?: Readonly<Record<string, unknown>>;
}

export interface JobAnswer {
  job: JobView;
  events: { kind: string; message: string | null; data?: { activity?: Activity } | null }[];
}

export interface JobView {
  jobId: string;
  status: string;
  attempt: number;
  message: string | null;
  outcomeReason: { category?: string; code?: string; summary?: string; retryable?: boolean } | null;
  evidence: {
    commitSha?: string;
    branch?: string;
    changedFiles?: string[];
    secretsIn?: string[];
    executor?: Record<string, unknown>;
  } | null;
  usage: Record<string, unknown> | null;
}

export interface Worked extends JobAnswer {
  /** All output of the job, as on its timeline. */
  log: string;
  /** The agent's terminal and its end. */
  agent: ProcessEnd & { stdout: string; stderr: string };
}

/**
 * Starts all parts. Call it in `before`, and `close` in `after`.
 *
 * @param env of the machine, beside what `makeToolPlace` sets.
 * @param options `parent`: where its directory is made; the temporary directory if absent.
 */
export async function startToolBench(
  tools: readonly ToolName[],
  env: Readonly<Record<string, string>> = {},
  options: Pick<ToolPlaceOptions, 'claudeLogin'> & { parent?: string } = {},
): Promise<ToolBench> {
  const { claudeLogin = 'key', parent = tmpdir() } = options;
  const folder = await mkdtemp(join(parent, 'signalbox-e2e-'));
  const model = await startScriptedModel();
  const proxy = await startRecordingProxy();
  const hub = await startHubProcess({ dataDir: join(folder, 'data') });
  const place = makeToolPlace({
    folder,
    tools,
    modelUrl: model.baseUrl,
    proxyEnv: proxy.env,
    claudeLogin,
  });
  const machine = createMachine(folder, { ...place.env, ...env });
  const person = await makeOwner(hub);
  await logIn(machine, person, owner.workspaceSlug);
  const clone = join(folder, 'clone');
  makeClone(clone, 'git@git.acme.example:acme/api.git');
  const { repo } = await runJson<{ repo: { repoId: string } }>(machine, ['repo', 'link', clone]);

  // Both as the console does: a command would start a process for each call.

  async function enqueue(prompt: string, kind: JobKind = 'work', more = {}): Promise<string> {
    const { baseUrl, cookie, workspaceId } = person;
    const job = { workspaceId, repoId: repo.repoId, kind, prompt, ...more };
    return String((await callConsole(baseUrl, 'jobs/enqueue', job, cookie)).answer.jobId);
  }

  async function readJob(jobId: string): Promise<JobAnswer> {
    const { baseUrl, cookie, workspaceId } = person;
    const call = async (path: string, more: object = {}) =>
      (await callConsole(baseUrl, path, { workspaceId, jobId, ...more }, cookie)).answer;
    const [{ job }, { events }] = await Promise.all([
      call('jobs/get'),
      call('job-events/list-for-job', { limit: 1_000 }),
    ]);
    return { job, events } as unknown as JobAnswer;
  }

  let jobs = 0;
  return {
    folder,
    hub,
    person,
    model,
    proxy,
    place,
    machine,
    clone,
    enqueue,
    readJob,
    machineWith: (other) => createMachine(folder, { ...place.env, ...env, ...other }),
    async work(tool, prompt, { turns, kind, tool: settings = {} } = {}) {
      jobs += 1;
      const scenario = `job-${jobs}`;
      if (turns !== undefined) model.script({ [scenario]: turns });
      const text = turns === undefined ? prompt : `${prompt}\n\n[scenario ${scenario}]`;
      const jobId = await enqueue(text, kind);
      const line = ['agent', 'start', '--once', ...commandLine(folder, tool, settings)];
      const end = await machine.run(line);
      const answer = await readJob(jobId);
      return { ...answer, log: logOf(answer), agent: end };
    },
    async cancel(jobId) {
      const body = { workspaceId: person.workspaceId, jobId };
      await callConsole(hub.baseUrl, 'jobs/cancel', body, person.cookie);
    },
    checkRequests() {
      assert.deepEqual(model.unexpected, []);
      assert.deepEqual(proxy.requests, []);
    },
    async close() {
      await hub.stop();
      await Promise.all([model.close(), proxy.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The flags for a tool that is driven by its own command line. */
export function commandLine(folder: string, name: string, settings: object = {}): string[] {
  return configFlag(folder, { tool: { name, protocol: 'cli', ...settings } });
}

/** All output of a job, in order. */
export function logOf({ events }: JobAnswer): string {
  return events
    .filter(({ kind }) => kind === 'log')
    .map(({ message }) => message ?? '')
    .join('');
}
