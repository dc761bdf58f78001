// `npm run demo -- --questions`: an agent asks, all that could remember the question is killed, and
// a person answers on a phone. The answer reaches the same session of the tool.
import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobEvent, ListedUncertainty } from '@signalbox/contract';
import type { Browser, Locator, Page } from 'playwright-core';
import type { StartedProcess } from '../process/start-process.ts';
import type { Owner } from './owner.ts';
import type { Processes, RunningHub } from './processes.ts';
import { secondsOf, secondsSince, type Terminal } from './terminal.ts';

/** A system with one job that waits for its agent. */
export interface Asking {
  terminal: Terminal;
  processes: Processes;
  hub: RunningHub;
  owner: Owner;
  jobId: string;
  agentArgs: readonly string[];
  toolName: string;
  /** A link that signs the person in, once. */
  makeSignInUrl(): Promise<string>;
  signal: AbortSignal;
  /** Sees the phone before each touch; null: after the last one. */
  onPhone?: ((page: Page, target: Locator | null) => Promise<void>) | undefined;
}

const LOOK_MS = 50;
const phone = { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true };

/**
 * Plays the demo from the question to the end of the job.
 *
 * @returns what was proved, in lines. @throws unless there is one question, answer and session.
 */
export async function playQuestion(asking: Asking): Promise<string[]> {
  const { terminal, processes, hub, toolName } = asking;
  const { sayOutput, step } = terminal;
  // Without the settings that the agent prints at its start.
  const onLine = (line: string) => /^(\d\d:| {10}\S)/.test(line) && sayOutput(line);
  const start = () => processes.start(asking.agentArgs, { onLine });
  const first = start();
  const question = await step(`An agent runs ${toolName}, which asks`, () =>
    unlessEnded(first, findQuestion(asking)),
  );
  sayOutput(`“${question.title}”`);
  const killedMs = performance.now();
  await step('All of them are killed: kill -9', () => killAll(terminal, hub, first));
  await step('The hub starts again', () => processes.startHub(Number(new URL(hub.url).port)));
  const second = start();
  await step('The agent starts again and resumes the tool', () =>
    unlessEnded(second, findResumed(asking)),
  );
  const resumed = secondsSince(killedMs);
  await step('A person answers on a phone', () => answerOnPhone(asking, question));
  await step('The tool continues', async () => {
    const { code } = await second.ended;
    if (code !== 0) throw new Error(`The agent exited with ${code}.\n${second.stderr}`);
  });
  const proof = await readProof(asking);
  const [answer] = proof.answers;
  const worked = Date.parse(proof.finishedAt ?? '') - Date.parse(answer?.createdAt ?? '');
  const lines = [
    ['question', proof.questions, 'which the resumed tool asked again, and found'],
    ['answer', proof.answers, `“${answer?.value}”, by ${answer?.createdBy}`],
    ['session', proof.sessions, proof.sessions.join(', ')],
  ] as const;
  const wrong = lines.filter(([, all]) => all.length !== 1).map(([what]) => what);
  if (wrong.length > 0) throw new Error(`There is not exactly one ${wrong.join(', one ')}.`);
  return [
    ...lines.map(([what, all, words]) => `${all.length} ${what.padEnd(8)}  ${words}`),
    `${resumed.padStart(10)}  from the kill to the resumed tool`,
    `${secondsOf(worked).padStart(10)}  from the answer to the end, 5 s of them to undo it`,
  ];
}

async function findQuestion({ owner, jobId, signal }: Asking): Promise<ListedUncertainty> {
  const { console, workspaceId } = owner;
  return await look(signal, async () => {
    const ofJob = { workspaceId, jobId, status: 'open', view: 'summary' } as const;
    return (await console.uncertainties.list(ofJob)).uncertainties[0];
  });
}

/** Waits until the agent says of its second attempt how the tool continues. */
async function findResumed(asking: Asking): Promise<true> {
  return await look(asking.signal, async () => {
    const texts = (await readLog(asking)).map(({ message }) => message ?? '');
    return texts.some((text) => /is resumed|\[resumed|begins again/.test(text)) || undefined;
  });
}

/** A hub that starts may not answer yet. */
async function look<T>(signal: AbortSignal, find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await wait(LOOK_MS, undefined, { signal });
  }
}

function unlessEnded<T>(agent: StartedProcess, found: Promise<T>): Promise<T> {
  const ended = agent.ended.then(({ code }) => {
    throw new Error(`The agent ended before, with ${code}.\n${agent.stdout}\n${agent.stderr}`);
  });
  return Promise.race([found, ended]);
}

/** Kills the tool with all that it started, the agent and the hub, and waits until none is left. */
async function killAll(terminal: Terminal, hub: RunningHub, agent: StartedProcess): Promise<void> {
  const ofTool = descendantsOf(agent.pid).map(({ pid, name }) => ({ pid, what: `tool: ${name}` }));
  const victims = [
    ...ofTool,
    { pid: agent.pid, what: 'agent' },
    { pid: hub.process.pid, what: 'hub' },
  ];
  // All in one turn: none has the time to store anything, or to notice that another one is gone.
  const killed = victims.filter(({ pid }) => kill(pid));
  await Promise.all([hub.process.ended, agent.ended]);
  for (const { pid, what } of killed) terminal.sayOutput(`kill -9 ${pid}  ${what}`);
  const pids = victims.map(({ pid }) => pid);
  await look(new AbortController().signal, async () =>
    listProcesses().some(({ pid }) => pids.includes(pid)) ? undefined : true,
  );
}

/** @returns whether it still ran. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** The processes below one, the deepest first. */
function descendantsOf(parent: number): ProcessRow[] {
  const rows = listProcesses();
  const below = (pid: number): ProcessRow[] =>
    rows.filter((row) => row.parent === pid).flatMap((row) => [...below(row.pid), row]);
  return below(parent);
}

interface ProcessRow {
  pid: number;
  parent: number;
  name: string;
}

function listProcesses(): ProcessRow[] {
  const output = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], {
    encoding: 'utf8',
  });
  return output.split('\n').flatMap((line) => {
    const [pid = '', parent = '', state = 'Z', ...command] = line.trim().split(/\s+/);
    // Zombies have ended.
    if (state.startsWith('Z')) return [];
    const words = command.slice(0, 3).map((word) => basename(word.replaceAll("'", '')));
    return [{ pid: Number(pid), parent: Number(parent), name: words.join(' ') }];
  });
}

/** Answers by touches in a phone-sized Chromium. Without one, waits for the person's answer. */
async function answerOnPhone(asking: Asking, question: ListedUncertainty): Promise<void> {
  const { terminal, owner, signal, onPhone } = asking;
  const { sayOutput } = terminal;
  const link = await asking.makeSignInUrl();
  const browser = await launchChromium();
  if (browser === null) {
    sayOutput('There is no Chromium that this can drive. Answer the question in the inbox:');
    terminal.say(`  ${link}`);
    const { console, workspaceId } = owner;
    const { uncertaintyId } = question;
    await look(signal, async () => {
      const { uncertainty } = await console.uncertainties.get({ workspaceId, uncertaintyId });
      return uncertainty.resolution ?? undefined;
    });
    return;
  }
  try {
    const page = await browser.newPage({ ...phone, colorScheme: 'light' });
    await page.goto(link);
    const touch = async (what: string, target: Locator) => {
      await target.waitFor();
      await onPhone?.(page, target);
      sayOutput(`touches ${what}`);
      await target.tap();
    };
    await touch('Inbox', page.getByRole('link', { name: /^Inbox/ }));
    await touch('the question', page.getByRole('link', { name: question.title }));
    const options = page.getByRole('radio');
    const button = page.getByRole('button', { name: /^Answer/ }).first();
    await button.waitFor();
    // The recommended option is chosen already.
    if ((await page.getByRole('radio', { checked: true }).count()) === 0) {
      await touch('the first option', options.first());
    }
    await touch((await button.innerText()).trim(), button);
    await page.getByText('You answered').waitFor();
    await onPhone?.(page, null);
  } finally {
    await browser.close();
  }
}

async function launchChromium(): Promise<Browser | null> {
  // `npm run demo` works without the development packages, of which Playwright is one.
  const found = await import('../../e2e/browser.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  });
  return found === null || found.browserMissing ? null : await found.launchBrowser();
}

async function readProof(asking: Asking) {
  const { console, workspaceId } = asking.owner;
  const ofJob = { workspaceId, jobId: asking.jobId, view: 'summary' } as const;
  const { uncertainties: questions } = await console.uncertainties.list(ofJob);
  const read = questions.map(({ uncertaintyId }) =>
    console.uncertainties.get({ workspaceId, uncertaintyId }),
  );
  const answers = (await Promise.all(read)).flatMap(({ uncertainty }) => uncertainty.resolutions);
  const { job } = await console.jobs.get({ workspaceId, jobId: asking.jobId });
  const { finishedAt } = job;
  return { finishedAt, questions, answers, sessions: sessionsIn(await readLog(asking)) };
}

async function readLog({ owner, jobId }: Asking): Promise<JobEvent[]> {
  const { workspaceId, console } = owner;
  const { events } = await console.jobEvents.listForJob({ workspaceId, jobId, limit: 1_000 });
  return events;
}

/** The sessions that the output of a tool names, each once. Ids contain a digit, words do not. */
function sessionsIn(events: readonly JobEvent[]): string[] {
  const text = events.map(({ message }) => message ?? '').join('');
  const found = text.matchAll(/\bsession ((?=[a-z-]*\d)[\w-]{6,})/gi);
  return [...new Set([...found].map(([, id = '']) => id))];
}
