import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configFlag } from '../cli-process.ts';
import { git } from '../git-clone.ts';
import { addFiles } from '../large-clone.ts';
import { projectRoot } from '../node-process.ts';
import { type PackageRegistry, startRegistry } from '../package-registry.ts';
import { needTool } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { say, shell, write } from './turns.ts';

/** One job whose real coding tool has begun in its place. */
export interface PlacedJob {
  jobId: string;
  /** From the answer of the claim to the start of the tool's process. */
  startMs: number;
  /** The results of its commands, as its model has seen them. */
  seen: string;
  log: string;
}

/** A large repository with packages to install, and an agent that runs four jobs at a time. */
export interface PlacesBench {
  readonly bench: ToolBench;
  /** Runs jobs at the same time. */
  run(count: number): Promise<PlacedJob[]>;
  close(): Promise<void>;
}

/** Installed by the jobs, with those on which they depend. */
const packages = ['pino', 'typebox', 'yaml'];
export const SLOTS = 4;
const LIMIT_MS = 300_000;

/** @param files beside those that `npm ci` installs. */
export async function startPlacesBench(
  tool: 'claude' | 'codex',
  files: number,
): Promise<PlacesBench> {
  const registry = await startRegistry([]);
  const bench = await startToolBench([tool]);
  const { folder, clone, model } = bench;
  await prepareClone(clone, files);
  const started = join(folder, 'started');
  const bin = makeWatched(tool, folder, started);
  const PATH = `${bin}:${bench.place.env.PATH}:${process.env.PATH}`;
  const env = { PATH, npm_config_cache: join(folder, 'npm-cache') };
  const machine = bench.machineWith(env);
  const agent = machine.start([...agentLine(tool, folder, registry), '--json']);
  await agent.waitFor(/"online"/);
  let scenarios = 0;

  async function runOne(): Promise<PlacedJob> {
    const scenario = `place-${++scenarios}`;
    const ports = shell('printenv SIGNALBOX_PORT_1 SIGNALBOX_PORT_2');
    const turns = [shell('ls node_modules/yaml'), ports, write('note.txt', 'new\n')];
    model.script({ [scenario]: [...turns, say('Done.')] });
    const jobId = await bench.enqueue(`Look around. [scenario ${scenario}]`);
    await agent.waitFor(new RegExp(`"type":"result-accepted","jobId":"${jobId}"`), LIMIT_MS);
    const { job, events } = await bench.readJob(jobId);
    const log = events.map(({ message }) => message ?? '').join('');
    if (job.status !== 'done') throw new Error(`${jobId} is ${job.status}: ${log}`);
    const claim = agent.stdout.split('\n').find((line) => isClaimOf(line, jobId)) ?? '{}';
    const claimedMs = Date.parse((JSON.parse(claim) as { at: string }).at);
    const startedMs = Number(readFileSync(join(started, jobId), 'utf8')) / 1e6;
    const requests = model.requests.filter((each) => each.scenario === scenario);
    const seen = JSON.stringify(requests.at(-1)?.body);
    return { jobId, startMs: startedMs - claimedMs, seen, log };
  }

  return {
    bench,
    run: async (count) => await Promise.all(Array.from({ length: count }, runOne)),
    async close() {
      agent.child.kill('SIGTERM');
      await agent.ended;
      registry.close();
      await bench.close();
    },
  };
}

const isClaimOf = (line: string, jobId: string) =>
  line.includes('"type":"job-claimed"') && line.includes(`"${jobId}"`);

function agentLine(tool: string, folder: string, registry: PackageRegistry): string[] {
  const install = `npm ci --ignore-scripts --no-audit --no-fund --registry ${registry.url}`;
  const settings = {
    setup: {
      run: { command: install, key: ['package-lock.json'], keep: ['node_modules'] },
      ports: 2,
    },
    tool: {
      name: tool,
      protocol: 'cli',
      ...(tool === 'claude' ? { allow: ['Bash(ls:*)', 'Bash(printenv:*)'] } : {}),
    },
  };
  return ['agent', 'start', '--jobs', String(SLOTS), ...configFlag(folder, settings)];
}

/** Starts the tool, and notes when. */
function makeWatched(tool: 'claude' | 'codex', folder: string, started: string): string {
  const bin = join(folder, 'bin');
  for (const path of [bin, started]) mkdirSync(path);
  const note = `[ -z "$SIGNALBOX_JOB_ID" ] || date +%s%N > '${started}'/"$SIGNALBOX_JOB_ID"`;
  const file = join(bin, tool);
  writeFileSync(file, `#!/bin/sh\n${note}\nexec '${needTool(tool).command}' "$@"\n`);
  chmodSync(file, 0o755);
  return bin;
}

async function prepareClone(clone: string, files: number): Promise<void> {
  const { packages: locked } = JSON.parse(
    readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'),
  ) as { packages: Record<string, { version: string; dependencies?: Record<string, string> }> };
  const chosen = new Set(packages);
  for (const name of chosen) {
    for (const other of Object.keys(locked[`node_modules/${name}`]?.dependencies ?? {})) {
      chosen.add(other);
    }
  }
  const dependencies = Object.fromEntries(
    packages.map((name) => [name, locked[`node_modules/${name}`]?.version]),
  );
  const root = { name: 'api', version: '1.0.0', dependencies };
  // The archives of the registry are made here, so they have other bytes.
  const entries = [...chosen].map((name) => {
    const path = `node_modules/${name}`;
    return [path, { ...locked[path], integrity: undefined }] as const;
  });
  const lock = {
    name: 'api',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, ...Object.fromEntries(entries) },
  };
  writeFileSync(join(clone, 'package.json'), JSON.stringify(root));
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(join(clone, '.gitignore'), 'node_modules\n');
  git(clone, 'add', '.');
  git(clone, 'commit', '--quiet', '-m', 'Packages');
  await addFiles(clone, files);
}
