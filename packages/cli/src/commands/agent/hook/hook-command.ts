import { resolve } from 'node:path';
import { type HookTool, hookTools } from '@signalbox/contract';
import { type Command, InvalidArgumentError } from 'commander';
import { formatDuration, parseDurationMs } from '../../../terminal/duration.ts';
import { readClone } from '../read-clone.ts';
import { hookFileOf } from './hook-file.ts';

/** How a tool behaves while its hook waits. */
interface HookNature {
  /** How long the hook waits for an answer, unless the person says otherwise. */
  waitMs: number;
  /** The terminal asks at the same time; otherwise it asks after the hook. */
  asksAtOnce: boolean;
}

export const hookNatures: Readonly<Record<HookTool, HookNature>> = {
  claude: { waitMs: 3_600_000, asksAtOnce: true },
  codex: { waitMs: 300_000, asksAtOnce: false },
};

export interface HookOptions {
  project?: true;
  json?: true;
}

export function parseTool(text: string): HookTool {
  const tool = hookTools.find((each) => each === text);
  if (tool !== undefined) return tool;
  throw new InvalidArgumentError(`It must be one of ${hookTools.join(', ')}.`);
}

const WAIT_MS_MIN = 10_000;
const WAIT_MS_MAX = 86_400_000;

export function parseWaitMs(text: string): number {
  const waitMs = parseDurationMs(text);
  if (waitMs >= WAIT_MS_MIN && waitMs <= WAIT_MS_MAX) return waitMs;
  throw new InvalidArgumentError('It must be from 10s to 1d.');
}

export function addProjectOption(program: Command): void {
  program.option('--project', 'for the clone in the current folder only, not for all sessions');
}

/** The file that a command is about. */
export async function chooseFile(
  tool: HookTool,
  env: NodeJS.ProcessEnv,
  { project }: HookOptions,
): Promise<string> {
  const root = project ? (await readClone(resolve('.'), env)).path : null;
  return hookFileOf(tool, env, root);
}

/** A duration as `--wait` takes it. */
export function durationWord(waitMs: number): string {
  return formatDuration(waitMs).replaceAll(' ', '');
}
