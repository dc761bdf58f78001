import { execFile, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { run } from 'node:test';
import { promisify } from 'node:util';
import { installTool, newestOf } from './install-tool.ts';
import { makeToolPlace } from './tool-place.ts';
import { type ToolName, TRIED_VARIABLE, tools } from './tool-table.ts';

/**
 * How a coding tool lists its options; null: it speaks ACP, and names its capabilities instead. Of
 * anything else, the newest version is not tried.
 */
const listing: Readonly<Partial<Record<ToolName, readonly string[] | null>>> = {
  claude: ['--help'],
  codex: ['exec', '--help'],
  opencode: ['acp', '--help'],
  gemini: ['--help'],
  'claude-acp': null,
  'codex-acp': null,
};

/** The tools that adapters drive. */
const adapted: Readonly<Partial<Record<ToolName, ToolName>>> = {
  'claude-acp': 'claude',
  'codex-acp': 'codex',
};

const SCENARIO_MS_MAX = 300_000;

/**
 * Installs the newest version of a tool beside the tested one, says how its options differ, and
 * runs the scenarios of this folder with it.
 *
 * @returns whether all of them passed.
 */
export async function tryNewest(name: ToolName): Promise<boolean> {
  const { package: npmPackage, version, command } = tools[name];
  if (listing[name] === undefined) return true;
  const newest = await newestOf(npmPackage);
  if (newest === version) {
    print(`${name} ${version} is the newest.`);
    return true;
  }
  const [tested, tried] = [await installTool(name), await installTool(name, newest)];
  print(`${name} ${version} → ${newest}`);
  const before = await optionsOf(name, tested.tool.command);
  const after = await optionsOf(name, tried.tool.command);
  print(`  new: ${missingIn(before, after)}`);
  print(`  gone: ${missingIn(after, before)}`);
  process.env[TRIED_VARIABLE] = `${command}=${newest}`;
  const { passed, failed } = await runScenarios();
  delete process.env[TRIED_VARIABLE];
  print(`  ${passed} scenarios passed, ${failed} failed`);
  return failed === 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function missingIn(some: ReadonlySet<string>, all: ReadonlySet<string>): string {
  const names = [...all].filter((each) => !some.has(each));
  return names.length === 0 ? 'nothing' : names.join(', ');
}

async function optionsOf(name: ToolName, command: string): Promise<Set<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-newest-'));
  const { tool } = await installTool(adapted[name] ?? name);
  try {
    // No request is made: an adapter is asked for its capabilities only.
    const nowhere = 'http://127.0.0.1:9';
    const { env } = makeToolPlace({ folder, tools: [tool.name], modelUrl: nowhere, proxyEnv: {} });
    const args = listing[name];
    if (!args) return await capabilitiesOf(command, env);
    const { stdout } = await promisify(execFile)(command, args, { env, cwd: folder });
    return new Set(stdout.match(/--[a-z][\w-]*/g));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The answer of an adapter to `initialize`, as paths of its fields. */
async function capabilitiesOf(
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<Set<string>> {
  const adapter = spawn(command, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const params = { protocolVersion: 1, clientCapabilities: {} };
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    adapter.stdin.write(`${JSON.stringify(request)}\n`);
    for await (const line of createInterface({ input: adapter.stdout })) {
      const { id, result } = JSON.parse(line) as { id?: number; result?: unknown };
      if (id === 1) return new Set(pathsOf(result));
    }
    throw new Error(`${command} did not answer to initialize.`);
  } finally {
    adapter.kill('SIGKILL');
  }
}

function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => pathsOf(each, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) => pathsOf(each, `${path}.${key}`));
}

/** Each failed scenario is named as soon as it has failed: all of them take many minutes. */
async function runScenarios(): Promise<{ passed: number; failed: number }> {
  const files = globSync(join(import.meta.dirname, '*-sqlite.test.ts'));
  let [passed, failed] = [0, 0];
  const stream = run({ files, concurrency: 1, timeout: SCENARIO_MS_MAX });
  for await (const { type, data } of stream) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // Groups repeat the results of their scenarios.
    if (data.details.type === 'suite' || data.skip !== undefined) continue;
    if (type === 'test:pass') {
      passed += 1;
      continue;
    }
    failed += 1;
    print(`  ✖ ${data.name}`);
  }
  return { passed, failed };
}
