import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  askForHook,
  type HookRequest,
  isYesOrNo,
  readHookRequest,
  untilCallEnded,
} from '@signalbox/agent/hook-question';
import { type HookTool, sessionAnswers, type Uncertainty } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import { Argument } from 'commander';
import { CliError } from '../../cli-error.ts';
import { addHubOptions, defineCommand, type HubOptions } from '../../command-module.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { type HubSession, openHubSession } from '../../hub/hub-session.ts';
import { describeFailure } from '../../terminal/exit.ts';
import type { Io } from '../../terminal/io.ts';
import { readText } from '../../terminal/stdin-text.ts';
import { oneLine } from '../../terminal/text.ts';
import { durationWord, hookNatures, parseTool, parseWaitMs } from './hook/hook-command.ts';
import { readClone } from './read-clone.ts';

/** The change of a whole file may be in it. */
const INPUT_BYTES_MAX = 32 * 1_024 * 1_024;
/** Together with the start of this program, the terminal asks within two seconds. */
const ASK_MS_MAX = 1_000;
/** Of these, for git to name the repository. */
const REPOSITORY_MS_MAX = 300;
/** Below 30 s, after which many proxies close an idle connection. */
const WAIT_MS_MAX = 25_000;
const RETRY_MS = 1_000;
const WITHDRAW_MS_MAX = 1_000;
const PARENT_INTERVAL_MS = 500;

/** An answer of a hook, in the form that Claude Code and Codex share. */
type HookAnswer = { behavior: 'allow' } | { behavior: 'deny'; message: string };

/**
 * `signalbox hook run TOOL`: the hook that a coding tool runs to ask for a permission. It asks in
 * the inbox of the person and prints the answer as the tool reads it; without one, the terminal
 * asks. It allows nothing by itself. `--json` changes nothing: the answer is JSON. Exit code 1: the
 * line on standard error says why it has no answer.
 */
export const command = defineCommand<HubOptions & { wait?: number }>({
  describe(program) {
    program
      .addArgument(new Argument('<tool>', 'claude or codex').argParser(parseTool))
      .option('--wait <time>', 'how long it waits for an answer', parseWaitMs);
  },

  json: 'as without it: the answer is JSON',
  chooseHub: addHubOptions,
  notes: 'Coding tools run it. Install it with: signalbox hook install',

  async run({ io, args, options }) {
    const tool = args[0] as HookTool;
    const waitMs = options.wait ?? hookNatures[tool].waitMs;
    const request = readHookRequest(await readText(io, INPUT_BYTES_MAX));
    if (request === null) return fallBack(io, 'It is not a request for a permission.');
    // A job has its own way to ask.
    if (io.env.SIGNALBOX_JOB_TOKEN || !isYesOrNo(request)) return exitCodes.ok;
    const untilMs = performance.now() + waitMs;
    const asked: Asked = { io, tool, request, untilMs, waitMs };
    let question: OpenQuestion;
    try {
      question = await ask(asked, options);
    } catch (error) {
      return fallBack(io, reasonOf(error));
    }
    try {
      const uncertainty = await untilAnswered(asked, question);
      if (uncertainty !== null) return tell(io, uncertainty);
      await question.withdraw();
      return fallBack(io, `No answer in ${durationWord(waitMs)}.`);
    } catch (error) {
      await question.withdraw();
      return fallBack(io, reasonOf(error));
    }
  },
});

interface Asked {
  io: Io;
  tool: HookTool;
  request: HookRequest;
  /** By the monotonic clock. */
  untilMs: number;
  waitMs: number;
}

interface OpenQuestion {
  session: HubSession;
  uncertaintyId: string;
  /** Takes the question out of the inbox, unless it is answered. It throws nothing. */
  withdraw(): Promise<void>;
}

async function ask(
  { io, tool, request, waitMs }: Asked,
  options: HubOptions,
): Promise<OpenQuestion> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(ASK_MS_MAX)]);
  const [session, remoteUrlHash] = await Promise.all([
    openHubSession({ ...io, signal }, options),
    findRepository(request.cwd, io.env),
  ]);
  const { client, workspaceId, token } = session;
  const question = askForHook(tool, request, {
    env: io.env,
    secrets: token === undefined ? [] : [token],
  });
  const { uncertaintyId } = await client.sessionQuestions.ask(
    {
      workspaceId,
      ...question,
      ...(remoteUrlHash !== null && { remoteUrlHash }),
      session: {
        tool,
        machine: hostname().slice(0, 200),
        sessionId: request.sessionId.slice(0, 200),
      },
      deadlineAt: new Date(Date.now() + waitMs).toISOString(),
    },
    { signal },
  );
  const withdraw = async () => {
    const limit = AbortSignal.timeout(WITHDRAW_MS_MAX);
    const ref = { workspaceId, uncertaintyId };
    // The hub withdraws it anyway when nothing waits for it.
    await client.sessionQuestions.withdraw(ref, { signal: limit }).catch(() => undefined);
  };
  return { session, uncertaintyId, withdraw };
}

/** The repository of the session, as agents link it; null: its folder is in no clone. */
async function findRepository(cwd: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const found = readClone(cwd, env).then(
    ({ remoteUrlHash }) => remoteUrlHash,
    () => null,
  );
  return await Promise.race([found, sleep(REPOSITORY_MS_MAX, null, { ref: false })]);
}

/** Null: the time is over. */
async function untilAnswered(
  { io, tool, request, untilMs }: Asked,
  { session: { client, workspaceId }, uncertaintyId }: OpenQuestion,
): Promise<Uncertainty | null> {
  using watch = watchSession(request);
  const signal = AbortSignal.any([io.signal, watch.signal]);
  for (;;) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return null;
    const waitMs = Math.ceil(Math.min(WAIT_MS_MAX, leftMs));
    try {
      const body = { workspaceId, uncertaintyId, waitMs };
      const { uncertainty } = await client.sessionQuestions.wait(body, { signal });
      if (uncertainty.status !== 'open') return uncertainty;
    } catch (error) {
      signal.throwIfAborted();
      // The client has tried for some seconds. Where the terminal asks too, the hub may come back.
      if (!isPassing(error) || !hookNatures[tool].asksAtOnce) throw error;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

/**
 * Aborts when the session does not wait for the hook any more. A tool that was killed leaves it
 * with another parent; Claude Code leaves it running when its person has answered at the terminal.
 */
function watchSession(request: HookRequest): { signal: AbortSignal } & Disposable {
  const over = new AbortController();
  const end = (why: string) => over.abort(new CliError(exitCodes.failed, 'SESSION_WENT_ON', why));
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) end('The tool has ended.');
  }, PARENT_INTERVAL_MS);
  untilCallEnded(request, { signal: over.signal }).then(
    () => end('It was answered at the terminal.'),
    // It can not be read, or is not read any more: the question stays as long as the hook.
    () => undefined,
  );
  const stop = () => {
    clearInterval(timer);
    over.abort();
  };
  return { signal: over.signal, [Symbol.dispose]: stop };
}

function isPassing(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  return error instanceof ApiError && (error.status >= 500 || error.status === 429);
}

function tell(io: Io, { resolution }: Uncertainty): ExitCode | undefined {
  if (resolution === null || resolution.mode !== 'answered') {
    return fallBack(io, `${resolution?.createdBy ?? 'The hub'} leaves it to this terminal.`);
  }
  const who = oneLine(resolution.createdBy ?? 'A person');
  const { value } = resolution;
  const words = value === sessionAnswers.refuse ? 'refused this.' : `refused this: ${value}`;
  const decision: HookAnswer =
    value === sessionAnswers.allow
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: `${who} ${words}` };
  return io.printJson({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
}

/** Leaves the decision to the tool, which asks at its terminal. */
function fallBack(io: Io, why: string): ExitCode {
  io.note(`signalbox: ${oneLine(why)} Answer here.`);
  return exitCodes.failed;
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return 'The hub did not answer in time.';
  }
  return describeFailure(error).message;
}
