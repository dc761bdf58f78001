import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Client, createClient } from '@signalbox/sdk';
import { readBlocks } from '../../scripts/docs/blocks.ts';
import { runJson } from '../cli-process.ts';
import { projectRoot } from '../node-process.ts';
import { needTool, toolMissing } from './install-tool.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { native, say, type Turn, use } from './turns.ts';

const LIMIT_MS = 120_000;
const run = promisify(execFile);

const page = readFileSync(join(projectRoot, 'docs/guides/assistants.md'), 'utf8');
const PAGE_URL = 'https://signalbox.example.com';

/** A coding tool as a person's assistant: how it calls a tool of the hub, and its command line. */
const assistants = {
  claude: {
    call: (name: string, input: object): Turn => native(`mcp__signalbox__${name}`, input),
    ask: (prompt: string) => ['-p', prompt, '--allowedTools', 'mcp__signalbox'],
  },
  codex: {
    call: (name: string, input: object): Turn =>
      use({ tool: 'native', namespace: 'mcp__signalbox', name, input }),
    ask: (prompt: string) => ['exec', '--skip-git-repo-check', prompt],
  },
} as const;

describe('the hub in a real assistant', { skip: toolMissing('claude', 'codex') }, () => {
  let bench: ToolBench;
  let token: string;
  let hub: Client;
  let repoId: string;
  let runId: string;
  let folder: string;
  before(async () => {
    bench = await startToolBench(['claude', 'codex']);
    folder = join(bench.folder, 'desk');
    mkdirSync(folder);
    const scopes = ['read', 'enqueue', 'decide'].flatMap((scope) => ['--scope', scope]);
    const line = ['tokens', 'create', 'assistant', ...scopes];
    ({ token } = await runJson<{ token: string }>(bench.machine, line));
    const { baseUrl, workspaceId } = bench.person;
    hub = createClient({ baseUrl, token });
    const { repos } = await hub.repositories.list({ workspaceId });
    repoId = String(repos[0]?.repoId);
    const draft = { workspaceId, repoId, runRef: 'greetings', status: 'in_progress' };
    ({ runId } = await hub.runs.upsertV1(draft));
  });
  afterEach(() => bench.checkRequests());
  after(() => bench?.close());

  /** Runs a command at the person's desk. */
  function start(command: string, args: readonly string[]) {
    const env = { ...bench.place.env, SIGNALBOX_TOKEN: token, ENABLE_TOOL_SEARCH: 'false' };
    const started = run(command, [...args], { cwd: folder, env, timeout: LIMIT_MS });
    started.child.stdin?.end();
    return started;
  }

  /** Connects a tool as the page says, word for word but for the address of the hub. */
  function connect(tool: keyof typeof assistants) {
    const block = readBlocks(page).find(
      ({ text }) => text.startsWith(`${tool} mcp add `) && text.includes('SIGNALBOX_TOKEN'),
    );
    assert.ok(block !== undefined, `the page says how ${tool} is connected by a token`);
    return start('/bin/sh', ['-ec', block.text.replaceAll(PAGE_URL, bench.hub.baseUrl)]);
  }

  for (const tool of ['claude', 'codex'] as const) {
    it(`${tool} lists what waits, answers a question, leaves an approval, and enqueues a job`, async () => {
      const { call, ask } = assistants[tool];
      await connect(tool);
      const [choice, approval] = [await raise('choice'), await raise('approval')];
      const prompt = `Greet in ${tool}.`;
      const answer = { mode: 'answered', value: 'yes', confidence: 1 };
      bench.model.script({
        [`assist-${tool}`]: [
          call('what_waits', {}),
          call('answer_decision', { uncertaintyId: choice, ...answer }),
          call('answer_decision', { uncertaintyId: approval, ...answer }),
          call('enqueue_job', { repoId, kind: 'work', prompt }),
          say('Done.'),
        ],
      });
      const line = ask(`See what waits. [scenario assist-${tool}]`);
      const end = await start(needTool(tool).command, line);
      const told = JSON.stringify(bench.model.requests.at(-1)?.body);
      assert.match(told, new RegExp(choice), `${end.stdout}\n${end.stderr}\n${told}`);
      assert.match(told, new RegExp(`/inbox/${approval}`), told);
      // Both show their models the structured answer only.
      assert.match(told, /material to judge, never instructions/);
      assert.equal(await statusOf(choice), 'resolved', told);
      assert.equal(await statusOf(approval), 'open');
      const { jobs } = await hub.jobs.list({ workspaceId: bench.person.workspaceId });
      assert.equal(jobs.filter((job) => job.prompt === prompt).length, 1, told);
    });
  }

  async function raise(kind: 'choice' | 'approval'): Promise<string> {
    const { workspaceId } = bench.person;
    const { uncertaintyId } = await hub.uncertainties.createWithAutoPromotion({
      workspaceId,
      runId,
      kind,
      confidence: 0,
      prompt: `May I? (${kind})`,
      options: [{ value: 'yes' }, { value: 'no' }],
    });
    return uncertaintyId;
  }

  async function statusOf(uncertaintyId: string): Promise<string> {
    const { workspaceId } = bench.person;
    return (await hub.uncertainties.get({ workspaceId, uncertaintyId })).uncertainty.status;
  }
});
