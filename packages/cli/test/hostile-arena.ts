/** Where `hostile-tests.ts` runs its attacks: the real command, a real hub, real git. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { endpointList } from '@signalbox/contract';
import { commandFile } from '../src/index.ts';
import {
  clientOf,
  configFlag,
  type HubPlace,
  linkClone,
  makeClone,
  type Running,
  startHub,
  useServiceToken,
} from './harness.ts';
import { type Attack, attackFunctions, attacksOnRows } from './hostile-attacks.ts';

const scriptedAcpTool = join(import.meta.dirname, '../../agent/test/support/acp-agent.ts');

export const attacks: Record<string, string> = Object.assign({}, ...Object.values(attacksOnRows));

/** A hub with a clone, and an agent whose tool is hostile. */
export interface Arena {
  place: HubPlace;
  clone: string;
  repoId: string;
  token: string;
  /** The attacks that were tried. */
  tried: Set<Attack>;
  agent: Running;
  /** Nothing in there may change. */
  outside: string;
  /** Exists once anything of the tool's has run outside of the tool. */
  pwned: string;
}

/** @param way how the agent runs the tool. */
export async function openArena(way: Way): Promise<Arena> {
  const place = await startHub();
  const token = await useServiceToken(place);
  const clone = makeClone(place);
  const repoId = await linkClone(place, clone);
  const other = makeClone(place, 'other');
  const at = (name: string) => join(place.directory, name);
  const [outside, pwned, pwn, tool] = [at('outside'), at('pwned'), at('pwn.sh'), at('tool.sh')];
  mkdirSync(outside);
  writeFileSync(join(outside, 'precious'), 'precious\n');
  writeFileSync(join(outside, 'result.json'), '{"outcome":"done","message":"stolen"}');
  writeFileSync(pwn, `#!/bin/sh\necho "$0 $*" >> ${pwned}\ncat\n`);
  writeFileSync(at('secret.json'), '{"outcome":"done","message":"stolen"}');
  writeFileSync(at('known-token'), token);
  const lines = otherCalls.map(({ path, text }) => `${path} ${text}\n`);
  writeFileSync(at('other-calls'), lines.join(''));
  const { workspaceId } = place;
  const client = clientOf(place);
  const foreign = { runId: await makeRun(place, repoId, 'foreign') };
  const prompt = 'The job of another.';
  const work = { workspaceId, repoId, kind: 'work', prompt } as const;
  const { jobId } = await client.jobs.enqueue({ ...work, ...foreign });
  await client.jobs.cancel({ workspaceId, jobId });
  const draft = { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 7 };
  const { uploadId, uploadUrl } = await client.uploads.create({ workspaceId, ...draft });
  const { ok } = await fetch(uploadUrl, { method: 'PUT', body: 'private' });
  assert.ok(ok);
  const cases = Object.entries(attacks).map(([name, script]) => `'${name}') ${script}\n;;`);
  writeFileSync(
    tool,
    `#!/bin/bash
export PWN=${pwn} SECRET=${at('secret.json')} LOOT=${at('loot')} KNOWN_TOKEN=${at('known-token')}
export OUTSIDE=${outside} CLONE=${clone} OTHER=${other} TESTER=${process.pid}
export NODE=${process.execPath} COMMAND=${commandFile}
FOREIGN_JOB=${jobId} FOREIGN_RUN=${foreign.runId} FOREIGN_UPLOAD=${uploadId} OTHER_CALLS=${at('other-calls')}
${attackFunctions}
request=$(cat)
case "\${request#feed }" in
${cases.join('\n')}
esac
# What the tool's own git has run does not count.
rm -f ${pwned}
exit 0
`,
  );
  for (const file of [pwn, tool]) chmodSync(file, 0o755);
  const start = ['agent', 'start', '--check', 'test ! -e forged', '--label', 'pool=staging'];
  // The agent may take its own token from nowhere but its environment.
  const agent = place.start([...start, ...ways[way](place, tool)], {
    env: { ACP_SCRIPT_DIR: at('acp'), ACP_SCRIPT_PROGRAM: tool },
  });
  await agent.says(/online/);
  return { place, clone, repoId, token, agent, outside, pwned, tried: new Set() };
}

/** The calls that the hub refuses to every job token; each with the fields of its example. */
export const otherCalls = endpointList
  .filter(({ auth, jobToken }) => auth === 'bearer' && jobToken === 'none')
  .filter(({ method }) => method === 'POST')
  .map(({ path, example }) => {
    const { workspaceId: _workspaceId, ...fields } = example.request as Record<string, unknown>;
    const text = JSON.stringify(fields).slice(1, -1);
    return { path: path.replace('/control-plane/', ''), text };
  });

async function makeRun(place: HubPlace, repoId: string, runRef: string): Promise<string> {
  const { workspaceId } = place;
  const run = { workspaceId, repoId, runRef, title: 'A run', status: 'in_progress' } as const;
  return (await clientOf(place).runs.upsertV1({ ...run, goal: 'A goal' })).runId;
}

/** The ways in which an agent runs a tool. */
export const ways = {
  'a command': (_place: HubPlace, tool: string) => ['--tool', tool],
  'a tool over ACP': (place: HubPlace) =>
    configFlag(place, {
      tool: { name: `${process.execPath} ${scriptedAcpTool}`, protocol: 'acp' },
    }),
} as const;
export type Way = keyof typeof ways;

/** Everything below a folder: its names, and the content of its files. */
export function contentOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const file = join(folder, name);
    return [name, lstatSync(file).isFile() ? readFileSync(file, 'latin1') : ''];
  });
  return Object.fromEntries(entries);
}

/** Of the jobs of hostile tools. */
export const PRIORITY = 7;
export const requirements = { labels: { pool: 'staging' } };

/** Each look is a request. */
const LOOK_MS = 100;

/** Runs a job with an attack, and checks that nothing outside has changed or run. */
export async function attackIn(arena: Arena, name: Attack) {
  const { place, clone, repoId, outside, pwned } = arena;
  const before = contentOf(outside);
  const index = readFileSync(join(clone, '.git', 'index'));
  const client = clientOf(place);
  const { workspaceId } = place;
  const runId = await makeRun(place, repoId, `run-${arena.tried.size}`);
  arena.tried.add(name);
  const { jobId } = await client.jobs.enqueue({
    workspaceId,
    repoId,
    runId,
    kind: 'work',
    prompt: `feed ${name}`,
    maxAttempts: 1,
    priority: PRIORITY,
    requirements,
  });
  const ref = { workspaceId, jobId };
  let { job } = await client.jobs.get(ref);
  while (job.finishedAt === null) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    ({ job } = await client.jobs.get(ref));
    assert.equal(job.maxAttempts, 1, 'its attempt counts');
  }
  const { events } = await client.jobEvents.listForJob({ ...ref, limit: 1_000 });
  assert.ok(!existsSync(pwned), existsSync(pwned) ? readFileSync(pwned, 'utf8') : '');
  assert.deepEqual(contentOf(outside), before);
  assert.deepEqual(readFileSync(join(clone, '.git', 'index')), index);
  const reason = job.outcomeReason as { code?: string; summary?: string } | null;
  const evidence = (job.evidence ?? {}) as Record<string, unknown>;
  const log = events.map(({ kind, message }) => (kind === 'log' ? message : '')).join('');
  const posted = log.split('\n').filter((line) => line.startsWith('post '));
  const said = posted.map((line) => line.slice('post '.length));
  const text = JSON.stringify({ job, events });
  return { client, ref, runId, job, events, reason, evidence, log, said, text };
}
