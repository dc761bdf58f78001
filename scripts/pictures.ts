// `npm run pictures`: takes the pictures of the README from the workspace of the demo. Pictures of
// every page, in every state, are taken by its test: SIGNALBOX_TEST_SCREENSHOTS names a folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { launchBrowser } from '../e2e/browser.ts';
import { callConsole, lendSession } from '../e2e/person.ts';
import { buildConsole } from './build/console-build.ts';
import { playDemo } from './demo/play.ts';
import { createProcesses, dataDirOf } from './demo/processes.ts';
import { createRecording } from './demo/recording.ts';
import { enterTeam, makeTeam, playTeam } from './demo/team.ts';
import { createTerminal } from './demo/terminal.ts';

const root = join(import.meta.dirname, '..');
const viewport = { width: 1280, height: 800 };
const say = (line: string) => process.stdout.write(`${line}\n`);

await buildConsole(root, say);
const directory = mkdtempSync(join(tmpdir(), 'signalbox-pictures-'));
const ended = new AbortController();
const processes = createProcesses(root, directory, new AbortController().signal);
const browser = await launchBrowser();
try {
  await recordQuestion();
  const team = await makeTeam(dataDirOf(directory), 'demo');
  const hub = await processes.startHub();
  const owner = await enterTeam(team, hub.url);
  const { console, workspaceId, email, password } = owner;
  const onError = (error: unknown) => {
    throw error;
  };
  await playTeam(team, { owner, baseUrl: hub.url, signal: ended.signal, onError });
  const { jobs } = await console.jobs.list({ workspaceId, status: 'done', limit: 200 });
  const whole = jobs.find(({ verdict }) => verdict === 'verified');
  // A file, its page, and an element that is there when all of the page is shown: Markdown is
  // drawn by code that is loaded after the page.
  const pictures = [
    ['jobs', '/w/demo/jobs', 'main ol li'],
    ['job', `/w/demo/jobs/${whole?.jobId}`, 'main strong'],
  ] as const;
  const baseUrl = hub.url;
  const { cookie } = await callConsole(baseUrl, 'session/sign-in', { email, password });
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ baseURL: baseUrl, viewport, colorScheme });
    await lendSession(context, { baseUrl, cookie, workspaceId });
    const page = await context.newPage();
    for (const [name, path, shown] of pictures) {
      await page.goto(path);
      await page.locator(shown).first().waitFor();
      await page.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
      // Away from the rows, which show their checkbox under the pointer.
      await page.mouse.move(0, 0);
      const file = join(root, 'docs/screenshots', `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file, animations: 'disabled' });
      say(`Wrote ${relative(root, file)}`);
    }
    await context.close();
  }
} finally {
  ended.abort();
  await browser.close();
  await processes.endAll();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

/** Plays `npm run demo -- --questions` in a system of its own. */
async function recordQuestion(): Promise<void> {
  const own = mkdtempSync(join(directory, 'question-'));
  const { signal } = ended;
  const system = createProcesses(root, own, signal);
  const { out, onPhone, draw } = createRecording();
  const options = { repo: root, questions: true, keep: false, keepOpen: false };
  const terminal = createTerminal(out);
  try {
    const demo = { options, terminal, processes: system, signal, directory: own };
    await playDemo({ ...demo, onPhone });
  } finally {
    await system.endAll();
  }
  const file = join(root, 'docs/screenshots/questions.gif');
  writeFileSync(file, await draw(browser));
  say(`Wrote ${relative(root, file)}`);
}
