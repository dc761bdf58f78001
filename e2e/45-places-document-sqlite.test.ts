// The guide to places, word for word: its commands and configuration, with a real hub and agent.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findFreePort } from '@signalbox/local-postgres';
import { readBlocks } from '../scripts/docs/blocks.ts';
import { createMachine, logIn } from './cli-process.ts';
import { makePlace, type Place, type ShellRun } from './documents-place.ts';
import { git } from './git-clone.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { projectRoot } from './node-process.ts';
import { type PackageRegistry, startRegistry } from './package-registry.ts';
import { makeOwner, owner } from './person.ts';

const page = readFileSync(join(projectRoot, 'docs/guides/places.md'), 'utf8');
const blocks = readBlocks(page);
const [enqueue, setup, steps, fromRepository, isolation, disk] = blocks.map(({ text }) => text);

const isBubblewrap = (each: string) => each !== '' && existsSync(join(each, 'bwrap'));
const bubblewrap = [
  process.env.TEST_BUBBLEWRAP ?? '',
  ...(process.env.PATH ?? '').split(delimiter),
].find(isBubblewrap);
const tryWrap = ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', 'true'];
const canWrap =
  bubblewrap !== undefined && spawnSync(join(bubblewrap, 'bwrap'), tryWrap).status === 0;

/** Says what is in its place, and leaves a file with the name of its prompt. */
const tool = `#!/bin/sh
prompt=$(cat | head -n 1)
echo "tracked: $(git ls-files | tr '\\n' ' ')"
echo "copied: $(cat .env)"
echo "linked: $(cat assets/big/one.bin)"
echo "installed: $(ls node_modules/yaml/package.json)"
echo "ports: $SIGNALBOX_PORT_1 $SIGNALBOX_PORT_2, database: $SIGNALBOX_DATABASE"
echo "keys: $(ls "$HOME/.ssh" 2> /dev/null)"
echo "clone: $(ls "$HOME/src/api")"
echo "$prompt" > "$(echo "$prompt" | tr -cd 'a-z').txt"
`;

describe('the guide to places, word for word', () => {
  // Wrapped jobs have another /tmp.
  const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'signalbox');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'e2e-'));
  const home = join(folder, 'home');
  const clone = join(home, 'src/api');
  let hub: HubProcess | undefined;
  let registry: PackageRegistry | undefined;
  let place: Place;
  let agent: ShellRun | undefined;

  before(async () => {
    const port = await findFreePort();
    place = makePlace(folder, port);
    hub = await startHubProcess({ dataDir: join(folder, 'data'), port });
    registry = await startRegistry([]);
    const machine = createMachine(folder, {
      HOME: home,
      SIGNALBOX_CONFIG_DIR: join(home, '.config/signalbox'),
      SIGNALBOX_STATE_DIR: join(home, '.local/state/signalbox'),
    });
    await logIn(machine, await makeOwner(hub), owner.workspaceSlug);
    addCommands();
    fillClone();
    await shell('signalbox repo link');
  });
  after(async () => {
    await agent?.stop();
    registry?.close();
    await hub?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function addCommands(): void {
    const bin = join(folder, 'bin');
    symlinkSync(join(projectRoot, 'packages/cli/bin/signalbox.mjs'), join(bin, 'signalbox'));
    const database = (name: string) => `#!/bin/sh\necho "${name} $*"\n`;
    const scripts = { tool, createdb: database('createdb'), dropdb: database('dropdb') };
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(bin, name), script);
      chmodSync(join(bin, name), 0o755);
    }
  }

  function fillClone(): void {
    const version = String(readLock('yaml').version);
    const root = { name: 'api', version: '1.0.0', dependencies: { yaml: version } };
    const packages = { '': root, 'node_modules/yaml': { version } };
    const lock = { ...root, lockfileVersion: 3, requires: true, packages };
    writeFileSync(join(clone, 'package.json'), JSON.stringify(root));
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(lock));
    commit('Packages');
    git(clone, 'switch', '--quiet', '--create', 'release-1.x');
    writeFileSync(join(clone, 'release.txt'), '1\n');
    commit('Release');
    git(clone, 'switch', '--quiet', 'main');
    writeFileSync(join(clone, '.env'), 'PORT=80\n');
    mkdirSync(join(clone, 'assets/big'), { recursive: true });
    writeFileSync(join(clone, 'assets/big/one.bin'), 'large\n');
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/id'), 'a secret\n');
  }

  function commit(message: string): void {
    git(clone, 'add', '.');
    git(clone, 'commit', '--quiet', '-m', message);
  }

  /** In the clone. */
  async function shell(text: string): Promise<string> {
    const run = place.run(`cd ~/src/api\n${text}`);
    assert.equal(await run.ended, 0, run.output);
    return run.output;
  }

  async function latestJob(): Promise<string> {
    const { jobs } = JSON.parse(await shell('signalbox jobs --limit 1 --json'));
    return jobs[0].jobId;
  }

  async function startAgent(...parts: (string | undefined)[]): Promise<ShellRun> {
    const settings = ['tool: {name: tool}', ...parts].join('\n');
    writeFileSync(join(home, '.config/signalbox/agent.yaml'), settings);
    const path = bubblewrap === undefined ? '"$PATH"' : `"$PATH":'${bubblewrap}'`;
    const variables = `PATH=${path} npm_config_registry=${registry?.url}`;
    // That cache is outside of the home directory.
    const unset = 'unset npm_config_cache npm_config_prefix';
    agent = place.run(`${unset}; export ${variables}; exec signalbox agent start`);
    agent.keep();
    await agent.waitFor(/online/);
    return agent;
  }

  /** Waits for a job, and returns what it has printed. */
  async function outputOf(jobId: string): Promise<string> {
    const end = new RegExp(`[✔✖↻] +${jobId.slice(-8)} .*(done|failed|returned).*`);
    const [line = ''] = (await agent?.waitFor(end)) ?? [];
    const text = await shell(`signalbox job log ${jobId}`);
    assert.match(line, /✔/, text);
    return text;
  }

  it('has these blocks', () => {
    const languages = blocks.map(({ language }) => language);
    assert.deepEqual(languages, ['sh', 'yaml', 'json', 'yaml', 'yaml', 'sh']);
  });

  it('starts jobs where it says, set up as it says', async () => {
    const started = await startAgent(setup, canWrap ? isolation : '');
    if (canWrap) assert.match(started.output, /Isolation +wrap\. Tried/);
    const ids: string[] = [];
    for (const line of enqueue?.trim().split('\n') ?? []) {
      await shell(line.replace('8f3a1c2d', ids[0]?.slice(-8) ?? ''));
      ids.push(await latestJob());
    }
    const outputs = await Promise.all(ids.map(outputOf));
    const begun = outputs.map((text) => /tracked: (.*)/.exec(text)?.[1]?.trim().split(' '));
    const main = ['README.md', 'package-lock.json', 'package.json'];
    const first = 'ddthetableofinvoices.txt';
    const sorted = (...files: string[]) => files.toSorted((a, b) => (a < b ? -1 : 1));
    assert.deepEqual(begun, [
      main,
      sorted(...main, first),
      sorted(...main, 'release.txt'),
      sorted(...main, first),
    ]);
    for (const text of outputs) {
      assert.match(text, /copied: PORT=80/);
      assert.match(text, /linked: large/);
      assert.match(text, /installed: node_modules\/yaml\/package\.json/);
      const [, one, two, name = '?'] =
        /ports: (2\d{4}) (2\d{4}), database: (sb_\w+)/.exec(text) ?? [];
      assert.ok(one !== two, text);
      assert.match(text, new RegExp(`createdb ${name}\\n`));
      assert.match(text, new RegExp(`dropdb --if-exists ${name}\\n`));
      if (canWrap) assert.match(text, /keys: \nclone: assets\n/);
    }
    assert.match(outputs[0] ?? '', /Set-up: npm ci: done in/);
    assert.match(outputs[3] ?? '', /Set-up: npm ci: copied from the cache/);
    const shown = await shell(`signalbox job ${ids[1]}`);
    assert.match(shown, new RegExp(`${ids[0]}|${ids[0]?.slice(-8)}`), 'it says what it builds on');
  });

  it('lets a job ask for a rung', async () => {
    const [, line = ''] = /`(signalbox enqueue [^`]*--requirements[^`]*)`/.exec(page) ?? [];
    await shell(line);
    const jobId = await latestJob();
    // The agent that cannot wrap does not get it.
    if (canWrap) await outputOf(jobId);
    const { job } = JSON.parse(await shell(`signalbox job ${jobId} --json`));
    if (canWrap) assert.ok(job.evidence.executor.isolation.rungs.includes('wrap'));
    else assert.equal(job.status, 'pending');
    assert.match(await shell('signalbox doctor || true'), /Isolation/);
  });

  it('takes set-up from the repository', async () => {
    await agent?.stop();
    mkdirSync(join(clone, '.signalbox'));
    writeFileSync(join(clone, '.signalbox/setup.json'), steps ?? '');
    git(clone, 'add', '.signalbox');
    git(clone, 'commit', '--quiet', '-m', 'Set-up');
    const started = await startAgent(fromRepository);
    assert.match(started.output, /Set-up +.*by \.signalbox\/setup\.json of its commits/);
    await shell('signalbox enqueue "Look around"');
    const text = await outputOf(await latestJob());
    assert.match(text, /copied: PORT=80/);
    assert.match(text, /installed: node_modules\/yaml\/package\.json/);
    assert.match(text, /ports: 2\d{4} 2\d{4}, database: \n/);
  });

  it('says what is on the disk, and frees it', async () => {
    await agent?.stop();
    const text = await shell(disk ?? '');
    assert.match(text, /MB in all\. Each repository keeps at most 1 warm worktrees and 5 folders/);
    for (const what of [
      /would delete kept set-up/,
      /deleted kept set-up/,
      /deleted warm worktree/,
    ]) {
      assert.match(text, what);
    }
    assert.match(text, /Freed [\d.]+ MB of worktrees and [\d.]+ MB of set-up/);
  });
});

/** The package of this project's lock. */
function readLock(name: string): { version?: string } {
  const { packages } = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  return packages[`node_modules/${name}`] ?? {};
}
