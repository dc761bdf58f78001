import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { type OlderNode, olderNode } from '../scripts/build/older-nodes.ts';
import { packPackages } from '../scripts/build/pack-packages.ts';
import { listDocuments } from '../scripts/check/source-files.ts';
import { readBlocks } from '../scripts/docs/blocks.ts';
import { createMachine, logIn, runJson } from './cli-process.ts';
import { git, makeClone } from './git-clone.ts';
import { startHubProcess } from './hub-process.ts';
import { projectRoot, runNode } from './node-process.ts';
import { type PackageRegistry, startRegistry } from './package-registry.ts';
import { makeOwner, owner } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const run = promisify(execFile);

describe('the packages, installed from a registry into an empty directory', () => {
  let archives: string[] = [];
  let registry: PackageRegistry | undefined;

  before(async () => {
    archives = await packPackages(projectRoot, join(folder, 'archives'), () => {});
    registry = await startRegistry(archives);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const flags = ['--registry', registry.url, '--cache', join(folder, 'npm-cache')];
    const args = ['install', ...flags, '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', [...args, '@signalbox/cli', '@signalbox/sdk'], { cwd: folder });
  });
  after(() => registry?.close());
  const folder = makeTempDir({ after });
  const packages = join(folder, 'node_modules/@signalbox');
  const launcher = join(packages, 'cli/bin/signalbox.mjs');
  /** The file that the launcher runs. Run directly, it never changes to the bundled Node. */
  const main = join(packages, 'cli/dist/main.js');

  it('have no mistakes that publint or arethetypeswrong find', async () => {
    for (const path of archives) {
      const bytes = readFileSync(path);
      const { buffer, byteOffset, length } = bytes;
      const tarball = buffer.slice(byteOffset, byteOffset + length);
      const { messages } = await publint({ pack: { tarball }, strict: true });
      assert.deepEqual(messages, [], basename(path));
      const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
      assert.ok(checked.types, `${basename(path)} has types`);
      // The packages are ES modules: neither `require` nor TypeScript's oldest resolution.
      const problems = checked.problems.filter(
        (problem) =>
          !('resolutionKind' in problem) ||
          !['node10', 'node16-cjs'].includes(problem.resolutionKind),
      );
      assert.deepEqual(problems, [], basename(path));
    }
  });

  it('depend on each other in exactly their version, and on nothing of the clone', () => {
    for (const name of ['contract', 'sdk', 'agent', 'hub', 'cli']) {
      const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
      const { version, dependencies, engines } = manifest;
      assert.equal('private' in manifest || 'devDependencies' in manifest, false);
      assert.match(engines.node, /^>=2[0246]/);
      for (const [dependency, wanted] of Object.entries(dependencies)) {
        if (dependency.startsWith('@signalbox/')) assert.equal(wanted, version);
      }
      assert.equal(existsSync(join(packages, name, 'src')), false);
    }
  });

  it('give the types of an answer to a program that uses the SDK', async () => {
    const program = `import { createClient } from '@signalbox/sdk';
    const client = createClient({ baseUrl: 'http://127.0.0.1', token: 'x' });
    const { job } = await client.jobs.get({ jobId: 'a', workspaceId: 'b' });
    const status: 'pending' | 'running' | 'done' | 'failed' | 'blocked' | 'canceled' = job.status;
    const wrong: number = job.status;
    export { status, wrong };`;
    writeFileSync(join(folder, 'program.ts'), program);
    const { code, stdout } = await compile('--types', '', 'program.ts');
    assert.notEqual(code, 0);
    assert.equal(stdout.match(/error TS/g)?.length, 1, stdout);
    assert.match(stdout, /program\.ts\(5,\d+\): error TS2322/);
  });

  it('are what the TypeScript of the documents expects', async () => {
    const snippets = listDocuments(projectRoot).flatMap((page) =>
      readBlocks(readFileSync(join(projectRoot, page), 'utf8'))
        .filter(({ language }) => language === 'ts')
        .map(({ line, text }) => ({ name: `${page.replaceAll(/[/.]/g, '-')}-${line}.ts`, text })),
    );
    assert.ok(snippets.length >= 2, 'the documents have TypeScript');
    for (const { name, text } of snippets) {
      writeFileSync(join(folder, name), `${text}\nexport {};\n`);
    }
    const types = ['--skipLibCheck', '--typeRoots', join(projectRoot, 'node_modules/@types')];
    const { stdout } = await compile(
      ...types,
      '--types',
      'node',
      ...snippets.map((one) => one.name),
    );
    assert.equal(stdout, '');
  });

  function compile(...args: string[]) {
    const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];
    return runNode([tsc, ...flags, ...args], { cwd: folder });
  }

  /** Runs a hub and takes a job to its evidence there. */
  async function completeJob(
    name: string,
    node: string,
    { hubScript = launcher, agentScript = launcher, script = launcher } = {},
  ): Promise<void> {
    const place = join(folder, name);
    const clone = join(place, 'clone');
    const hub = await startHubProcess({
      dataDir: join(place, 'data'),
      line: [hubScript, 'serve'],
      node,
      cwd: folder,
    });
    try {
      const page = await (await fetch(hub.baseUrl, { headers: { accept: 'text/html' } })).text();
      const [, asset = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? [];
      assert.equal((await fetch(hub.baseUrl + asset)).status, 200, 'the console is built');
      const machine = createMachine(place, {}, { script, node });
      await logIn(machine, await makeOwner(hub), owner.workspaceSlug);
      makeClone(clone, 'git@git.acme.example:acme/api.git');
      await runJson(machine, ['repo', 'link', clone], folder);
      const { jobId } = await runJson<{ jobId: string }>(machine, ['enqueue', 'Say hello.'], clone);
      const agent = createMachine(place, {}, { script: agentScript, node });
      const command = ['--tool', 'cat > greeting.txt', '--once'];
      const end = await agent.run(['agent', 'start', ...command], folder);
      assert.equal(end.code, 0, end.stderr);
      const { job } = await runJson<{
        job: { status: string; evidence: { commitSha: string; branch: string } | null };
      }>(machine, ['job', jobId], folder);
      assert.equal(job.status, 'done');
      assert.ok(job.evidence);
      assert.equal(git(clone, 'rev-parse', job.evidence.branch), job.evidence.commitSha);
      assert.match(git(clone, 'show', `${job.evidence.branch}:greeting.txt`), /Say hello\./);
    } finally {
      assert.equal((await hub.stop()).code, 0, hub.process.stderr);
    }
  }

  it('take a job to its evidence on this Node', async () => {
    await completeJob('own', process.execPath);
  });

  it('take a job to its evidence on Node 24', { skip: missing(24) }, async () => {
    const natively = { hubScript: main, agentScript: main, script: main };
    await completeJob('node-24', olderNode(projectRoot, 24), natively);
  });

  it('take a job to its evidence on Node 22, the hub on the Node of the package', {
    skip: missing(22),
  }, async () => {
    await completeJob('node-22', olderNode(projectRoot, 22), { agentScript: main });
  });

  it('name what is needed where neither the Node nor the bundled one can run them', {
    skip: missing(22),
  }, async () => {
    const [name] = globSync('node-{bin-,}{linux,darwin,win}-*', {
      cwd: join(folder, 'node_modules'),
    });
    assert.ok(name);
    const bundled = join(folder, 'node_modules', name);
    const node = olderNode(projectRoot, 22);
    const hidden = join(folder, 'hidden');
    renameSync(bundled, hidden);
    const { code, stderr } = await runNode([launcher, 'jobs'], { node, cwd: folder });
    renameSync(hidden, bundled);
    assert.equal(code, 1);
    assert.match(stderr, /^signalbox: Node 22\.\d+\.\d+ is too old.*Install Node 26.*\n$/);
  });

  it('are typed as npx signalbox in the directory they are installed in', async () => {
    const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
    const { stderr } = await runNode([launcher, 'whoami'], {
      cwd: folder,
      env: { ...env, SIGNALBOX_CONFIG_DIR: join(folder, 'nobody') },
    });
    assert.match(stderr, /npx signalbox login --workspace SLUG/);
  });
});

function missing(major: OlderNode): string | false {
  if (existsSync(olderNode(projectRoot, major))) return false;
  return `Node ${major} is missing: npm run older-nodes`;
}
