import type { Agent, AgentTool, JobAttempt } from '@signalbox/contract';
import { plainText } from './text.ts';

/** The tools that online agents offer for a repository. */
export function toolsOffered(agents: readonly Agent[], repoId: string): AgentTool[] {
  return agents
    .filter(({ status }) => status === 'online')
    .flatMap(({ capabilities }) => capabilities.tools ?? [])
    .filter(({ repoIds }) => repoIds?.includes(repoId) ?? true);
}

/** The models of a tool, or of all tools; the defaults first. */
export function modelsOffered(offered: readonly AgentTool[], tool: string): string[] {
  const chosen = offered.filter(({ name }) => tool === '' || name === tool);
  const defaults = chosen.flatMap(({ model }) => model ?? []);
  return [...new Set([...defaults, ...chosen.flatMap(({ models }) => models ?? [])])];
}

/** The tools of an agent, with the default model of each if it is known. */
export function toolsWords({ capabilities: { tools = [] } }: Pick<Agent, 'capabilities'>): string {
  return plainText(tools.map((tool) => toolWords({ ...tool, tool: tool.name })).join(', '));
}

/**
 * What keeps the tools of an agent from its machine, as it has tried; empty if it does not say, as
 * an older one.
 */
export function isolationWords({
  capabilities: { tools = [] },
}: Pick<Agent, 'capabilities'>): string {
  const told = tools.flatMap(({ name, isolation }) =>
    isolation === undefined ? [] : [{ name, words: isolation.join(' and ') || 'none' }],
  );
  const different = new Set(told.map(({ words }) => words));
  const [only] = different;
  if (different.size < 2) return plainText(only ?? '');
  return plainText(told.map(({ name, words }) => `${name}: ${words}`).join(', '));
}

/** A tool and a model, as far as they are known. */
export function toolWords({
  tool,
  model,
}: {
  tool?: string | null | undefined;
  model?: string | null | undefined;
}): string {
  return plainText([tool, model].filter(Boolean).join(' '));
}

/** Tokens that an attempt has used, in and out. */
export function tokensOf({ usage }: Pick<JobAttempt, 'usage'>): string {
  if (usage === null) return '';
  return ((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)).toLocaleString('en');
}
