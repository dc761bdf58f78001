import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '@signalbox/local-postgres';
import type { Browser, Page } from 'playwright-core';
import { readBlocks } from '../../scripts/docs/blocks.ts';
import { browserMissing, launchBrowser, openVisit } from '../browser.ts';
import { projectRoot } from '../node-process.ts';
import { lendSession } from '../person.ts';
import { needTool, toolMissing } from './install-tool.ts';
import { type OwnSession, skipFirstQuestions, startOwnSession } from './own-session.ts';
import { startToolBench, type ToolBench } from './tool-bench.ts';
import { native, say } from './turns.ts';

const run = promisify(execFile);
const LIMIT_MS = 60_000;
const LOOK_MS = 50;
const guide = readFileSync(join(projectRoot, 'docs/guides/assistants.md'), 'utf8');

/* What the official client library does is tried by `47-assistant-login-sqlite.test.ts`. */
describe('the real Claude Code logs in to the hub by OAuth', {
  skip: browserMissing || toolMissing('claude'),
}, () => {
  let bench: ToolBench;
  let browser: Browser;
  let session: OwnSession;
  let page: Page;
  /** The page that Claude Code wants to be opened. */
  let openedFile: string;

  before(async () => {
    [bench, browser] = await Promise.all([startToolBench(['claude']), launchBrowser()]);
    skipFirstQuestions(bench);
    openedFile = join(bench.folder, 'opened');
    const visit = await openVisit(browser, bench.hub.baseUrl);
    await lendSession(visit.context, bench.person);
    page = await visit.context.newPage();
  });
  after(async () => {
    await session?.end();
    await browser?.close();
    await bench?.close();
  });

  /** Runs a command at the person's desk. */
  function start(command: string, args: readonly string[]) {
    const env = { ...bench.place.env, ENABLE_TOOL_SEARCH: 'false' };
    const options = { cwd: bench.clone, env, timeout: LIMIT_MS };
    const started = run(command, [...args], options);
    started.child.stdin?.end();
    return started;
  }

  it('is added with a client that the person registers, as the page says', async () => {
    const block = readBlocks(guide).find(({ text }) => text.includes('--client-id'));
    assert.ok(block !== undefined);
    const text = block.text
      .replaceAll('https://signalbox.example.com', bench.hub.baseUrl)
      .replaceAll('8123', String(await findFreePort()));
    await start('/bin/sh', ['-ec', text]);
  });

  it('opens the console by /mcp, and is connected once the person allows it', async () => {
    const browserScript = join(bench.folder, 'browser');
    const line = `printf '%s' "$1" > '${openedFile}.new' && mv '${openedFile}.new' '${openedFile}'`;
    writeFileSync(browserScript, `#!/bin/sh\n${line}\n`);
    chmodSync(browserScript, 0o755);
    session = await startOwnSession(bench, 'claude', '/mcp', { BROWSER: browserScript });
    // The terminal leaves out letters that it has shown in the same place before.
    await session.untilShown(/Entertoview/);
    session.type('\r');
    await session.untilShown(/MCPserverStatus/);
    session.type('\r');
    while (!existsSync(openedFile)) await delay(LOOK_MS);
    await page.goto(readFileSync(openedFile, 'utf8'));
    await page.getByText('“Claude Code”').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Authentication successful').waitFor();
    await session.untilShown(/Signedinandconnectedtosignalbox/);
    await session.end();
  });

  it('then calls the tools of the hub', async () => {
    const { model } = bench;
    const turns = [native('mcp__signalbox__list_repositories', {}), say('There is one.')];
    model.script({ repositories: turns });
    const line = ['-p', 'Which are there? [scenario repositories]'];
    line.push('--allowedTools', 'mcp__signalbox');
    const { stdout } = await start(needTool('claude').command, line);
    assert.match(stdout, /There is one\./);
    assert.match(JSON.stringify(model.requests.at(-1)?.body), /repo_\w+/);
    assert.deepEqual(model.unexpected, []);
  });
});
