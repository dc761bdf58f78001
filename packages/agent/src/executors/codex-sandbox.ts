import { tmpdir } from 'node:os';
import type { Wrap } from '../isolation/bubblewrap.ts';
import { cleanEnvironment } from '../process/environment.ts';
import { type ProgramError, runProgram } from '../process/run-program.ts';
import { environmentOf, identityOf, type ToolUser } from '../process/tool-user.ts';
import { ExecutorSandboxError } from './executor.ts';

const PROBE_MS_MAX = 30_000;
const WORDS_CHARS_MAX = 500;
/** Codex's own notes about itself, before what went wrong. */
const noise = /^WARNING: /;

type CodexCommand = readonly [file: string, ...args: string[]];
type CodexMode = 'read-only' | 'workspace-write';

/** Starts programs in the sandbox of Codex, as Codex starts those of its model. */
export function inCodexSandbox([codex, ...first]: CodexCommand, mode: CodexMode): Wrap {
  const args = [...first, 'sandbox', '-c', `sandbox_mode="${mode}"`, '--'];
  return (command) => ({ file: codex, args: [...args, command.file, ...command.args] });
}

/**
 * Runs `true` in the sandbox of Codex. Codex does not say that its sandbox is broken: each command
 * of a job would fail, and the job would be done.
 *
 * @param codex the command, with arguments before those of Codex.
 * @throws {ExecutorSandboxError} with the words of the sandbox.
 */
export async function checkCodexSandbox(
  codex: CodexCommand,
  mode: CodexMode,
  { env, user }: { env: NodeJS.ProcessEnv; user: ToolUser | null },
): Promise<void> {
  const { file, args } = inCodexSandbox(codex, mode)({ file: 'true', args: [] });
  const clean = environmentOf(user, cleanEnvironment(env, undefined));
  const options = { limitMs: PROBE_MS_MAX, cwd: tmpdir(), env: clean, ...identityOf(user) };
  try {
    await runProgram(file, args, options);
  } catch (error) {
    const { stderr, message } = error as ProgramError;
    const words = stderr.split('\n').filter((line) => line.trim() !== '' && !noise.test(line));
    const problem = (words.join(' ') || message).slice(0, WORDS_CHARS_MAX);
    throw new ExecutorSandboxError(
      `The sandbox of Codex does not work here, so its commands would fail: ${problem} ` +
        'To see it: codex sandbox -- true',
    );
  }
}
