import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** The work of a page between two moments, as the person at it sees it. */
export interface Span {
  /** The longest time for which the page's thread was busy; 0 if never above 50 ms. */
  readonly longestTaskMs: number;
  /** Tasks above 50 ms, which the browser calls long. */
  readonly longTasks: number;
  /** The same in processor time, which other processes on the machine do not lengthen. */
  readonly longestTaskCpuMs: number;
  readonly longestFrameMs: number;
  readonly framesPerSecond: number;
  readonly requests: number;
  readonly receivedBytes: number;
}

/** Runs in the page before its own scripts, and notes long tasks and the times of frames. */
const watchScript = `
  const watch = { tasks: [], frames: [] };
  window.benchWatch = watch;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) watch.tasks.push({ startTime, duration });
  }).observe({ type: 'longtask' });
  performance.setResourceTimingBufferSize(10_000);
  const tick = (nowMs) => {
    watch.frames.push(nowMs);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
`;

/** Answers after two frames, so that all that was asked for before has been drawn. */
const settled = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now()))))`;

const readScript = `((fromMs) => {
  const frames = watch.frames.filter((atMs) => atMs >= fromMs);
  const gaps = frames.slice(1).map((atMs, at) => atMs - frames[at]);
  const tasks = watch.tasks.filter(({ startTime }) => startTime >= fromMs);
  const calls = performance
    .getEntriesByType('resource')
    .filter(({ startTime, initiatorType }) => startTime >= fromMs && initiatorType === 'fetch');
  return {
    longestTaskMs: Math.max(0, ...tasks.map(({ duration }) => duration)),
    longTasks: tasks.length,
    longestFrameMs: Math.max(0, ...gaps),
    framesPerSecond: gaps.length / ((performance.now() - fromMs) / 1000),
    requests: calls.length,
    receivedBytes: calls.reduce((sum, { transferSize }) => sum + transferSize, 0),
  };
})`;

export async function watchPages(context: BrowserContext): Promise<void> {
  await context.addInitScript(watchScript);
}

/** Watches a page while something happens to it, until it is drawn. */
export async function watchSpan(page: Page, act: () => Promise<void>): Promise<Span> {
  const fromMs = await page.evaluate<number>(settled);
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ['toplevel'] });
  await act();
  await page.evaluate(settled);
  const seen = await page.evaluate<Omit<Span, 'longestTaskCpuMs'>>(
    `{ const watch = window.benchWatch; ${readScript}(${fromMs}) }`,
  );
  const trace = await browser?.stopTracing();
  return { ...seen, longestTaskCpuMs: findLongestTaskMs(trace?.toString() ?? '') };
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Of the thread, in microseconds. */
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
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur), 0) / 1_000;
}

/** The JavaScript heap of a page after a garbage collection. */
export async function readHeapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}
