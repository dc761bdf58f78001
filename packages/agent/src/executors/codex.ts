import { createCodexReader } from './codex-reader.ts';
import { type Executor, ExecutorMissingError } from './executor.ts';
import { findOnPath, readVersion } from './find-on-path.ts';
import { composeToolPrompt } from './tool-prompt.ts';

export const codexSandboxes = ['read-only', 'workspace-write', 'danger-full-access'] as const;

export interface CodexExecutorOptions {
  model?: string;
  /** Codex's own sandbox. Default `workspace-write`; read-only jobs always use `read-only`. */
  sandbox?: (typeof codexSandboxes)[number];
  /** Additional arguments, passed unchanged. */
  args?: readonly string[];
}

/** Runs Codex non-interactively: `codex exec --json` prints one event per line. */
export function createCodexExecutor(options: CodexExecutorOptions = {}): Executor {
  const { model, sandbox = 'workspace-write' } = options;
  return {
    name: 'codex',
    async check(env) {
      const file = await findOnPath('codex', env);
      if (file === null) {
        throw new ExecutorMissingError(
          'codex is not on the PATH; install Codex and log it in, or choose another executor.',
        );
      }
      return { version: await readVersion(file, env) };
    },
    plan(request) {
      const args = ['exec', '--json', '--sandbox', request.isReadOnly ? 'read-only' : sandbox];
      args.push('--add-dir', request.toolFiles);
      if (model !== undefined) args.push('--model', model);
      // A dash makes Codex read the prompt from standard input, so it may begin with any character.
      args.push(...(options.args ?? []), '-');
      const reader = createCodexReader({ model, worktree: request.worktree });
      return {
        file: 'codex',
        args,
        stdin: composeToolPrompt(request, !request.isReadOnly),
        reader,
      };
    },
    describe: () => [...(model === undefined ? [] : [`model ${model}`]), `sandbox ${sandbox}`],
  };
}
