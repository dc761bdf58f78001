// Runs the shell blocks of the documents word for word, in the order of a first day. A comment
// before a block says how, where it is not a command that ends with 0:
//
//     <!-- docs:check approves -->      a person approves the login that it prints
//     <!-- docs:check runs TEXT -->     it continues after printing TEXT, until the page ends
//     <!-- docs:check skip REASON -->   it needs something that is not here
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findFreePort } from '@signalbox/local-postgres';
import { type Block, readBlocks } from '../scripts/docs/blocks.ts';
import { makePlace, type Place, type ShellRun } from './documents-place.ts';
import { projectRoot } from './node-process.ts';
import { callConsole, owner } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

/** Reading order: what one page leaves behind, such as a login, the next ones find. */
const pages = [
  'README.md',
  'docs/start/any-command.md',
  'docs/start/claude-code.md',
  'docs/start/codex.md',
  'docs/guides/own-sessions.md',
  'docs/guides/review.md',
  'docs/start/ci.md',
  'docs/guides/several-machines.md',
  'docs/guides/events-and-triggers.md',
  'docs/guides/model-calls.md',
  'docs/operate/backup.md',
  'docs/operate/run.md',
  'docs/operate/postgresql.md',
];

describe('the commands of the documents, word for word', () => {
  let place: Place;
  let baseUrl: string;
  let cookie = '';
  let hub: ShellRun | undefined;

  before(async () => {
    const port = await findFreePort();
    baseUrl = `http://127.0.0.1:${port}`;
    place = makePlace(folder, port);
  });
  after(() => hub?.stop());
  const folder = makeTempDir({ after });

  for (const page of pages) {
    describe(page, () => {
      const running: ShellRun[] = [];
      after(async () => {
        await Promise.all(running.map((run) => run.stop()));
        // An agent that a defect has ended says why.
        for (const run of running) assert.equal(await run.ended, 0, run.output);
      });
      for (const block of readBlocks(readFileSync(join(projectRoot, page), 'utf8'))) {
        if (block.language !== 'sh' || block.directive.startsWith('skip ')) continue;
        it(`line ${block.line}: ${firstLine(block)}`, () => runBlock(block, running));
      }
    });
  }

  async function runBlock(block: Block, running: ShellRun[]): Promise<void> {
    const run = place.run(await fillIn(block.text));
    const [, until] = /^runs (.+)$/.exec(block.directive) ?? [];
    if (until === undefined) {
      if (block.directive === 'approves') await approveLogin(run);
      assert.equal(await run.ended, 0, run.output);
      return;
    }
    await run.waitFor(new RegExp(RegExp.escape(until)));
    if (block.text.startsWith('npm start')) await signInAtHub(run);
    else running.push(run);
    run.keep();
  }

  /** The person in the console, who also creates the team's workspace of the later pages. */
  async function signInAtHub(run: ShellRun): Promise<void> {
    hub = run;
    const [, linkToken] = await run.waitFor(/sign-in-link#token=(\S+)/);
    ({ cookie } = await callConsole(baseUrl, 'session/sign-in-by-link', { linkToken }));
    const workspace = { slug: owner.workspaceSlug, name: owner.workspaceName };
    await callConsole(baseUrl, 'workspaces/create', workspace, cookie);
  }

  /** The person at the approval page. */
  async function approveLogin(run: ShellRun): Promise<void> {
    const [, userCode] = await run.waitFor(/Your code\s+(\S+)\n/);
    const [, deviceId] = await run.waitFor(/\/device\?id=(\w+)/);
    await callConsole(baseUrl, 'device-approvals/open', { deviceId }, cookie);
    const answer = { deviceId, userCode, decision: 'approve' };
    await callConsole(baseUrl, 'device-approvals/answer', answer, cookie);
  }

  /** Replaces the documents' example of a short id by the id of the latest job. */
  async function fillIn(text: string): Promise<string> {
    if (!text.includes('8f3a1c2d')) return text;
    const list = place.run('signalbox jobs --limit 1 --json');
    assert.equal(await list.ended, 0, list.output);
    const { jobs } = JSON.parse(list.output) as { jobs: { jobId: string }[] };
    return text.replaceAll('8f3a1c2d', jobs[0]?.jobId ?? '');
  }
});

function firstLine({ text }: Block): string {
  return text.split('\n')[0] ?? '';
}
