import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentTool, TOOL_MODELS_MAX } from '@signalbox/contract';
import type { AgentOptions } from './agent-options.ts';
import type { OfferedModels } from './executors/asked-tool.ts';
import type { Executor, ExecutorTool } from './executors/executor.ts';
import { isObject, listOf, parseObject, textOf } from './executors/json-fields.ts';
import { unlessMissing } from './missing-file.ts';
import { type StateDirectory, writeFileDurably } from './state-directory.ts';

/** Limits of the contract. */
const NAME_CHARS_MAX = 64;
const VERSION_CHARS_MAX = 100;
const MODEL_CHARS_MAX = 128;
const TOOLS_MAX = 20;

interface OfferedToolsOptions {
  options: Pick<AgentOptions, 'executor' | 'repositories'>;
  tools: ReadonlyMap<Executor, ExecutorTool>;
  state: StateDirectory;
}

/** Lists the tools of an agent for the hub. Called again for each heartbeat. */
export type OfferedTools = () => AgentTool[];

/**
 * Lists the tools of an agent's repositories for the hub. A tool over ACP tells its models with a
 * session, so they are kept for the next start of the agent.
 */
export async function createOfferedTools({
  options: { executor, repositories },
  tools,
  state,
}: OfferedToolsOptions): Promise<OfferedTools> {
  const file = join(state.path, 'models.json');
  const kept = await readKept(file);
  let written = JSON.stringify(kept);

  function modelsOf(one: Executor, { version }: ExecutorTool): OfferedModels | null {
    const key = `${nameOf(one)} ${version ?? ''}`;
    const told = one.offeredModels?.() ?? null;
    if (told !== null) kept[key] = told;
    return told ?? kept[key] ?? null;
  }

  function keep(): void {
    const text = JSON.stringify(kept);
    if (text === written) return;
    written = text;
    // Without the file, the models are known with the first session after the next start.
    writeFileDurably(file, text).catch(() => {});
  }

  return () => {
    const offered = [...tools].slice(0, TOOLS_MAX).map(([one, tool]): AgentTool => {
      const known = modelsOf(one, tool);
      const model = one.modelOf?.(null) || known?.current || '';
      const own = repositories.filter((repository) => (repository.executor ?? executor) === one);
      return {
        name: nameOf(one),
        ...(tool.version === null ? {} : { version: tool.version.slice(0, VERSION_CHARS_MAX) }),
        ...(tool.proof === undefined ? {} : { isolation: [...tool.proof.rungs] }),
        ...(model === '' || model.length > MODEL_CHARS_MAX ? {} : { model }),
        ...(known === null ? {} : { models: fitting(known.models) }),
        ...(tools.size === 1 ? {} : { repoIds: own.map(({ repoId }) => repoId) }),
      };
    });
    keep();
    return offered;
  };
}

/** The name by which jobs ask for a tool. */
export function nameOf({ tool, name }: Executor): string {
  return (tool ?? name).slice(0, NAME_CHARS_MAX);
}

function fitting(models: readonly string[]): string[] {
  return models
    .filter(({ length }) => length > 0 && length <= MODEL_CHARS_MAX)
    .slice(0, TOOL_MODELS_MAX);
}

async function readKept(file: string): Promise<Record<string, OfferedModels>> {
  const text = (await unlessMissing(readFile(file, 'utf8'))) ?? '';
  const entries = Object.entries(parseObject(text) ?? {}).flatMap(([key, value]) => {
    if (!isObject(value)) return [];
    const models = listOf(value.models).map(textOf);
    return [[key, { current: textOf(value.current), models }] as const];
  });
  return Object.fromEntries(entries);
}
