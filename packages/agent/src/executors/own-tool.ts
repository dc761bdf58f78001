import { join } from 'node:path';
import { runProgram } from '../process/run-program.ts';
import { SHELL } from './command.ts';
import {
  type Executor,
  ExecutorMissingError,
  type ExecutorPlan,
  type ExecutorRequest,
  PromptTooLongError,
} from './executor.ts';
import { composeToolPrompt, resumedPrompt } from './tool-prompt.ts';

/** How a tool takes its prompt: on standard input, or as its last argument, or in a file. */
export const promptWays = ['stdin', 'argument', 'file'] as const;

/** In the command that resumes a session: its id. */
export const SESSION_PLACEHOLDER = '{session}';

export interface OwnToolOptions {
  /** The name by which jobs ask for it. */
  name: string;
  /** For a shell. */
  command: string;
  /** Default `stdin`. `file` gives the path of a file as the last argument. */
  prompt?: (typeof promptWays)[number] | undefined;
  /** Continues a session of the tool in its directory. Absent: it has no sessions. */
  resume?: string | undefined;
  /** Its group matches the id of the session in a line of output, for `{session}` in `resume`. */
  session?: RegExp | undefined;
}

/** Linux starts no program with a longer argument (execve(2)). */
const ARGUMENT_BYTES_MAX = 131_071;
const LOOK_MS_MAX = 15_000;
/** A model may print lines of any length, and the id is on a short one. */
const LINE_CHARS_MAX = 10_000;
/** The tool's word becomes a part of a command line. */
const sessionIds = /^[A-Za-z0-9][\w.:-]{0,199}$/;
/** The session of a tool that knows itself which was the last one in its directory. */
const LAST_SESSION = 'last';

/** Runs a coding tool that a person has described: a command, its prompt, and how it resumes. */
export function createOwnToolExecutor(options: OwnToolOptions): Executor {
  const { name, command, resume, session } = options;
  const prompt = options.prompt ?? 'stdin';
  return {
    name: 'command',
    tool: name,
    ...(resume === undefined ? {} : { hasSessions: true }),
    // The agent gives it no model, so no job may ask for one.
    offeredModels: () => ({ current: '', models: [] }),
    async check(env) {
      const program = programOf(command);
      if (/^\w[\w.+-]*$/.test(program) && !(await isKnownToShell(program, env))) {
        throw new ExecutorMissingError(`${program} is not on the PATH; tool.command starts it.`);
      }
      return { version: null };
    },
    plan(request) {
      const known = resume === undefined ? null : (request.session?.sessionId ?? null);
      const line =
        known === null ? command : (resume ?? '').replaceAll(SESSION_PLACEHOLDER, () => known);
      const text = promptOf(request, known !== null);
      return {
        ...givePrompt(prompt, line.trim(), text, request.toolFiles),
        ...(resume === undefined
          ? {}
          : { findSession: (output: string) => findSession(output, session) }),
      };
    },
    describe: () => [
      resume === undefined ? 'no sessions' : 'resumes its sessions',
      'reports no usage',
    ],
  };
}

/** The program that a command line starts: its first word that sets no variable. */
export function programOf(command: string): string {
  return command.split(/\s+/).find((word) => word !== '' && !/^\w+=/.test(word)) ?? '';
}

async function isKnownToShell(program: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { env, limitMs: LOOK_MS_MAX };
  const found = runProgram(SHELL, ['-c', 'command -v "$0"', program], options);
  return await found.then(() => true).catch(() => false);
}

function promptOf(request: ExecutorRequest, isResumed: boolean): string {
  const { session, resultFile, nextPromptText } = request;
  const means = { resultFile, hasServer: false };
  if (!isResumed || session === undefined) return composeToolPrompt(request, means);
  if (session.isPromptTold) return `${resumedPrompt(session.newAnswers())}\n`;
  return composeToolPrompt({ ...request, promptText: nextPromptText }, means);
}

/** @throws {PromptTooLongError} */
function givePrompt(
  prompt: (typeof promptWays)[number],
  line: string,
  text: string,
  toolFiles: string,
): ExecutorPlan {
  if (prompt === 'stdin') return { file: SHELL, args: ['-c', line], stdin: text };
  if (prompt === 'argument') {
    if (Buffer.byteLength(text) > ARGUMENT_BYTES_MAX) {
      throw new PromptTooLongError(
        'The prompt does not fit into an argument. Set tool.prompt to stdin or file.',
      );
    }
    return { file: SHELL, args: ['-c', `${line} "$1"`, 'sh', text], stdin: '' };
  }
  const script = `cat > "$1" || exit\n${line} "$1" < /dev/null`;
  return { file: SHELL, args: ['-c', script, 'sh', join(toolFiles, 'prompt.txt')], stdin: text };
}

function findSession(output: string, pattern: RegExp | undefined): string | null {
  if (pattern === undefined) return LAST_SESSION;
  if (output.length > LINE_CHARS_MAX) return null;
  const id = pattern.exec(output)?.[1] ?? '';
  return sessionIds.test(id) ? id : null;
}
