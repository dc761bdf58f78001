import type { Browser, Page } from 'playwright-core';
import { browserMissing, launchBrowser } from '../../e2e/browser.ts';
import { lendSession } from '../../e2e/person.ts';
import { buildConsole } from '../../scripts/build/console-build.ts';
import { projectRoot } from '../child.ts';
import {
  type ConsoleSize,
  type ConsoleWorld,
  startConsoleWorld,
} from '../console/console-world.ts';
import { type ListRound, useJobList } from '../console/list-steps.ts';
import { watchNewJobs } from '../console/live-steps.ts';
import { type LogRound, TYPING_PAUSE_MS, useLog } from '../console/log-steps.ts';
import { type Span, watchPages } from '../console/page-watch.ts';
import { formatCount, formatMegabytes, formatMs } from '../format.ts';
import type { Bench, Section, Verdict } from '../section.ts';
import { findMedian } from '../statistics.ts';
import { withHubs } from '../subjects/hub.ts';
import { withStore } from '../subjects/store.ts';

const LARGE: ConsoleSize = { jobs: 100_000, logLines: 1_000_000 };
const QUICK: ConsoleSize = { jobs: 3_000, logLines: 200_000 };
const NEW_JOBS = 5;
const TASK_MS_MAX = 50;
const OPEN_MS_MAX = 500;
const SCRIPT_BYTES_MAX = 180_000;

interface ConsoleRound {
  readonly list: ListRound;
  readonly newJobMs: readonly number[];
  readonly log: LogRound;
}

/** P10: the console in Chromium, in a workspace with very many jobs. */
export async function measureConsole(bench: Bench): Promise<Section> {
  if (browserMissing !== false) throw new Error(browserMissing);
  const size = bench.options.quick ? QUICK : LARGE;
  await buildConsole(projectRoot, bench.say);
  const rounds = await withStore(bench, 'sqlite', async (store) =>
    withHubs(await startConsoleWorld(store, size, bench.say), (world) => runRounds(bench, world)),
  );
  const { list, log } = figuresOf(rounds);
  return {
    title: `The console with ${formatCount(size.jobs)} jobs`,
    table: {
      head: [
        'at the list',
        'longest task',
        'in processor time',
        'frames/s',
        'requests',
        'received',
      ],
      rows: list.steps.map(({ name, span }) => [name, ...describe(span)]),
    },
    notes: [
      `The first view takes ${formatMs(list.firstViewMs)} from the address to the first row; the ` +
        `page then uses ${formatMegabytes(list.heapBytes[0])}, and ` +
        `${formatMegabytes(list.heapBytes[1])} when all jobs have been scrolled through.`,
      `A log of ${formatCount(size.logLines)} lines is open at its end after ` +
        `${formatMs(log.openMs)}; a search through all of it takes ${formatMs(log.searchMs)}, ` +
        `${TYPING_PAUSE_MS} ms of it a pause for typing; the page uses ` +
        `${formatMegabytes(log.heapBytes)}.`,
      'Chromium without a graphics card, 1280 × 800, shares the cores with the hub on SQLite. A ' +
        'task keeps the page from answering; its processor time does not depend on other load.',
    ],
    verdicts: judge(figuresOf(rounds), size),
    bars: [],
    raw: rounds,
  };
}

async function runRounds(bench: Bench, world: ConsoleWorld): Promise<ConsoleRound[]> {
  const rounds: ConsoleRound[] = [];
  const browser = await launchBrowser();
  try {
    for (let number = 1; number <= bench.options.rounds; number++) {
      const round = await runRound(browser, world);
      rounds.push(round);
      const { steps } = round.list;
      const taskMs = Math.max(...steps.map(({ span }) => span.longestTaskCpuMs));
      bench.say(
        `  round ${number}  longest task ${formatMs(taskMs)} of processor time, a new job after ` +
          `${formatMs(findMedian(round.newJobMs))}, the log after ${formatMs(round.log.openMs)}`,
      );
    }
  } finally {
    await browser.close();
  }
  return rounds;
}

async function runRound(browser: Browser, world: ConsoleWorld): Promise<ConsoleRound> {
  const [one, two] = [await openPage(browser, world), await openPage(browser, world)];
  const list = await useJobList(one, world);
  const newJobMs = await watchNewJobs([one, two], world, NEW_JOBS);
  await two.context().close();
  const log = await useLog(one, world);
  await one.context().close();
  return { list, newJobMs, log };
}

/** A page of a browser profile of its own. */
async function openPage(browser: Browser, { person }: ConsoleWorld): Promise<Page> {
  const viewport = { width: 1_280, height: 800 };
  const context = await browser.newContext({ baseURL: person.baseUrl, viewport });
  await watchPages(context);
  await lendSession(context, person);
  return context.newPage();
}

type Figures = ReturnType<typeof figuresOf>;

/** The medians of all rounds. */
function figuresOf(rounds: readonly ConsoleRound[]) {
  const median = (read: (round: ConsoleRound) => number) => findMedian(rounds.map(read));
  const names = rounds[0]?.list.steps.map(({ name }) => name) ?? [];
  const spanAt = (at: number): Span => {
    const of = (figure: keyof Span) => median(({ list }) => list.steps[at]?.span[figure] ?? 0);
    return {
      longestTaskMs: of('longestTaskMs'),
      longTasks: of('longTasks'),
      longestTaskCpuMs: of('longestTaskCpuMs'),
      longestFrameMs: of('longestFrameMs'),
      framesPerSecond: of('framesPerSecond'),
      requests: of('requests'),
      receivedBytes: of('receivedBytes'),
    };
  };
  return {
    list: {
      firstViewMs: median(({ list }) => list.firstViewMs),
      scriptBytes: median(({ list }) => list.scriptBytes),
      steps: names.map((name, at) => ({ name, span: spanAt(at) })),
      heapBytes: [
        median((each) => each.list.heapBytes[0]),
        median((each) => each.list.heapBytes[1]),
      ],
    } as ListRound,
    newJobMs: findMedian(rounds.flatMap(({ newJobMs }) => newJobMs)),
    log: {
      openMs: median(({ log }) => log.openMs),
      searchMs: median(({ log }) => log.searchMs),
      heapBytes: median(({ log }) => log.heapBytes),
    },
  };
}

function describe(span: Span): string[] {
  return [
    span.longestTaskMs === 0 ? '≤ 50 ms' : formatMs(span.longestTaskMs),
    formatMs(span.longestTaskCpuMs),
    span.framesPerSecond.toFixed(0),
    formatCount(span.requests),
    `${formatCount(span.receivedBytes / 1_000)} KB`,
  ];
}

function judge({ list, newJobMs, log }: Figures, size: ConsoleSize): Verdict[] {
  const taskMs = Math.max(...list.steps.map(({ span }) => span.longestTaskCpuMs));
  const jobs = formatCount(size.jobs);
  const rule = { measure: 'P10' } as const;
  return [
    {
      ...{ ...rule, what: `list of ${jobs} jobs: longest task, processor time`, target: '≤ 50 ms' },
      ...{ measured: formatMs(taskMs), met: taskMs <= TASK_MS_MAX },
    },
    {
      ...{ ...rule, what: 'a new job is shown in two browsers', target: '≤ 500 ms' },
      ...{ measured: formatMs(newJobMs), met: newJobMs <= OPEN_MS_MAX },
    },
    {
      ...{ ...rule, what: `log of ${formatCount(size.logLines)} lines opens`, target: '≤ 500 ms' },
      ...{ measured: formatMs(log.openMs), met: log.openMs <= OPEN_MS_MAX },
    },
    {
      ...{ ...rule, what: 'JavaScript of the first view', target: '≤ 180 KB' },
      measured: `${formatCount(list.scriptBytes / 1_000)} KB`,
      met: list.scriptBytes <= SCRIPT_BYTES_MAX,
    },
  ];
}
