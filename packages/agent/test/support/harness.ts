import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, watch } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { EvidenceCheck } from '@signalbox/contract';
import {
  type AgentEvent,
  type AgentOptions,
  createCommandExecutor,
  type RunningAgent,
  startAgent,
} from '../../src/index.ts';
import { FakeHub, type FakeJob } from './fake-hub.ts';

export const repoId = 'repo_test';

export interface Setup {
  directory: string;
  hub: FakeHub;
  /** The person's clone. */
  clone: string;
  stateDir: string;
  events: AgentEvent[];
  /** Starts an agent that runs a shell command for each job. */
  start(command: string, options?: Partial<AgentOptions>): Promise<RunningAgent>;
}

/** A fake hub, a person's clone and a state directory; all removed when the test ends. */
export async function setup(t: TestContext): Promise<Setup> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-agent-'));
  const hub = new FakeHub();
  await hub.start();
  const clone = join(directory, 'clone');
  await makeRepository(clone);
  const stateDir = join(directory, 'state');
  const events: AgentEvent[] = [];
  const agents: RunningAgent[] = [];
  t.after(async () => {
    await Promise.allSettled(agents.map((agent) => agent.stop()));
    await hub.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    directory,
    hub,
    clone,
    stateDir,
    events,
    async start(command, options = {}) {
      const agent = await startAgent({
        baseUrl: hub.baseUrl,
        token: hub.token,
        workspaceId: hub.workspaceId,
        displayName: 'test agent',
        repositories: [{ repoId, path: clone }],
        stateDir,
        executor: createCommandExecutor({ command }),
        killGraceMs: 1_000,
        flushMs: 500,
        // Almost no jitter: minimal delays, so that tests wait for events only.
        random: () => 0.05,
        onEvent(event) {
          events.push(event);
          hub.changed();
        },
        ...options,
      });
      agents.push(agent);
      return agent;
    },
  };
}

export async function makeRepository(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  git(path, 'init', '--quiet', '--initial-branch=main');
  git(path, 'config', 'user.name', 'Ada Person');
  git(path, 'config', 'user.email', 'ada@example.test');
  await writeFile(join(path, 'README.md'), 'hello\n');
  git(path, 'add', '.');
  git(path, 'commit', '--quiet', '-m', 'Begin');
}

export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trimEnd();
}

/** Resolves when a file exists. */
export async function fileAppears(file: string): Promise<void> {
  await watched(file, () => existsSync(file));
}

/** Reads the pid that a command wrote to a file. */
export async function readPid(file: string): Promise<number> {
  // The shell creates the file before it writes the line.
  await watched(file, () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  return Number(readFileSync(file, 'utf8'));
}

async function watched(file: string, condition: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (condition()) resolve();
  };
  const watcher = watch(dirname(file), look);
  look();
  await promise;
  watcher.close();
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie counts as dead, although it could still be signalled.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

export function eventOf<T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T) {
  return events.find((event) => event.type === type) as
    | Extract<AgentEvent, { type: T }>
    | undefined;
}

export interface AcceptedResult {
  outcome: string;
  message: string;
  claimGeneration: number;
  runId?: string;
  outcomeReason?: Record<string, unknown>;
  evidence: {
    commitSha?: string;
    changedFiles: string[];
    branch?: string;
    baseSha?: string;
    verdict?: string;
    checks?: EvidenceCheck[];
    gaps?: string[];
    pushedTo?: string;
    pullRequestUrl?: string;
    executor: Record<string, unknown>;
  };
  usage?: Record<string, unknown>;
  children?: Record<string, unknown>[];
}

/** The completion that the hub has accepted. */
export function resultOf(held: FakeJob): AcceptedResult {
  assert.ok(held.accepted, 'a result was accepted');
  return held.accepted as unknown as AcceptedResult;
}
