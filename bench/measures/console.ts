import { LEASE_MS_MAX } from '@signalbox/contract';
import { type Client, createClient } from '@signalbox/sdk';
import type { Browser, Page } from 'playwright-core';
import { browserMissing, launchBrowser } from '../../e2e/browser.ts';
import { lendSession, type SignedIn } from '../../e2e/person.ts';
import { buildConsole } from '../../scripts/build/console-build.ts';
import type { Bench } from '../bench.ts';
import { type Figure, formatCount } from '../figure.ts';
import { projectRoot } from '../project.ts';
import { baseUrlOf, registerAgents } from '../subjects/hub.ts';
import { signInOwner } from '../subjects/person.ts';
import { type SeededWorld, withSeededHub } from '../subjects/seed.ts';

const jobsPath = '/w/bench/jobs';
/** A fast fling: three rows in each frame. */
const FLING_PX = 120;
const FLING_MS = 5_000;
/** Lines of a piece of output, of about 30 KB. */
const PIECE_LINES = 500;
const PIECES_PER_CALL = 6;

/** P10: the console in Chromium, in a workspace with very many jobs. */
export async function measureConsole(bench: Bench): Promise<Figure[]> {
  if (browserMissing !== false) throw new Error(browserMissing);
  const { quick, rounds } = bench.options;
  const jobs = quick ? 3_000 : 100_000;
  const logLines = quick ? 200_000 : 1_000_000;
  await buildConsole(projectRoot, bench.say);
  const counts = { pending: jobs * 0.4, finished: jobs * 0.6, events: 0 };
  const seen = await withSeededHub(bench, 'sqlite', counts, async (world, store) => {
    const logJobId = await writeLog(world, logLines);
    const person = await signInOwner(store, world);
    const browser = await launchBrowser();
    try {
      const views: Awaited<ReturnType<typeof view>>[] = [];
      for (let round = 1; round <= rounds; round++) {
        views.push(await view(browser, person, `${jobsPath}/${logJobId}`, logLines));
        bench.say(`  round ${round}  ${JSON.stringify(views.at(-1))}`);
      }
      return views;
    } finally {
      await browser.close();
    }
  });
  const row = { measure: 'P10' } as const;
  const list = `list of ${formatCount(jobs)} jobs: longest task while scrolling, processor time`;
  const log = `log of ${formatCount(logLines)} lines opens`;
  const ms = { ...row, unit: 'ms' } as const;
  return [
    {
      ...row,
      what: 'JavaScript of the first view, compressed',
      unit: 'KB',
      atMost: 180,
      values: seen.map(({ scriptKilobytes }) => scriptKilobytes),
    },
    {
      ...row,
      what: 'requests of the first view',
      unit: '',
      atMost: 12,
      values: seen.map(({ requests }) => requests),
    },
    { ...ms, what: list, atMost: 50, values: seen.map(({ taskMs }) => taskMs) },
    { ...ms, what: log, atMost: 500, values: seen.map(({ openMs }) => openMs) },
  ];
}

/** Looks at the list and at the log, in a browser profile of its own. */
async function view(browser: Browser, person: SignedIn, logPath: string, logLines: number) {
  const viewport = { width: 1_280, height: 800 };
  const context = await browser.newContext({ baseURL: person.baseUrl, viewport });
  await lendSession(context, person);
  const page = await context.newPage();
  await page.goto(jobsPath);
  await page.locator('main ol li').first().waitFor();
  const [scriptKilobytes, requests] = await page.evaluate<[number, number]>(`(() => {
    const loaded = performance.getEntriesByType('resource');
    const scripts = loaded.filter(({ name }) => name.endsWith('.js'));
    return [scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1000,
      loaded.length + 1];
  })()`);
  await browser.startTracing(page, { categories: ['toplevel'] });
  await fling(page);
  const taskMs = findLongestTaskMs((await browser.stopTracing()).toString());
  await page.goto(logPath);
  const tab = page.getByRole('tab', { name: 'Log' });
  await tab.waitFor();
  const beganMs = performance.now();
  await tab.click();
  await page.locator(`[data-line="${logLines}"]`).waitFor();
  const openMs = performance.now() - beganMs;
  await context.close();
  return { scriptKilobytes, requests, taskMs, openMs };
}

function fling(page: Page): Promise<void> {
  return page.evaluate(`new Promise((resolve) => {
    const endMs = performance.now() + ${FLING_MS};
    const step = () => {
      window.scrollBy(0, ${FLING_PX});
      if (performance.now() < endMs) requestAnimationFrame(step);
      else resolve();
    };
    step();
  })`);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread in µs, which other processes on the machine do not lengthen. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest processor time of a task on the main thread of a page. */
function findLongestTaskMs(trace: string): number {
  // Chromium writes this format: the Trace Event Format, as JSON.
  const { traceEvents } = JSON.parse(trace) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith('RunTask') && mainThreads.has(threadOf(event)),
  );
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

/** Writes the log of a job that is claimed before all others. Returns its ID. */
async function writeLog(world: SeededWorld, lines: number): Promise<string> {
  const { workspaceId, repoId, targets } = world;
  const [agent] = await registerAgents(world, 1);
  if (agent === undefined) throw new Error('a log must have an agent');
  const { agentId, token } = agent;
  const client: Client = createClient({ baseUrl: baseUrlOf(targets[0]), token });
  const draft = { workspaceId, repoId, kind: 'work', prompt: 'Print many lines.' } as const;
  const { jobId } = await client.jobs.enqueue({ ...draft, priority: 100 });
  const claimed = await client.jobs.claimNext({ workspaceId, agentId, leaseMs: LEASE_MS_MAX });
  if (claimed.jobId !== jobId) throw new Error('the job of the log must be claimed first');
  let logSeq = 0;
  for (let from = 0; from < lines; from += PIECE_LINES * PIECES_PER_CALL) {
    const pieces = Array.from({ length: PIECES_PER_CALL }, (_, at) => from + at * PIECE_LINES);
    const entries = pieces
      .filter((at) => at < lines)
      .map((at) => ({ logSeq: ++logSeq, message: pieceOf(at), stream: 'stdout' as const }));
    await client.jobEvents.append({ workspaceId, jobId, agentId, entries });
  }
  await client.jobs.complete({ workspaceId, jobId, agentId, outcome: 'done' });
  return jobId;
}

function pieceOf(from: number): string {
  const lines = Array.from(
    { length: PIECE_LINES },
    (_, at) => `${from + at + 1} of the output, which is about sixty characters\n`,
  );
  return lines.join('');
}
