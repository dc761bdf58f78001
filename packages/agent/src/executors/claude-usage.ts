import type { Usage } from '@signalbox/contract';
import { countOf, isObject, type JsonObject, objectOf } from './json-fields.ts';

/**
 * Reads the tokens of a whole run from Claude Code's last result; undefined when it used none.
 *
 * `modelUsage` is the sum over all turns and sub-agents. `usage` is the main conversation's last
 * turn alone, and is used only where an older version reports nothing else.
 */
export function usageOfClaude(result: JsonObject, model: string): Usage | undefined {
  const cost = result.total_cost_usd;
  const costs = typeof cost === 'number' && cost >= 0 ? { costUsd: cost } : {};
  if (!isObject(result.modelUsage)) {
    return { ...countTokens(objectOf(result.usage)), ...costs, ...(model === '' ? {} : { model }) };
  }
  const models = Object.entries(result.modelUsage).map(([name, counts]) => ({
    model: name,
    ...countTokens(objectOf(counts)),
    ...costOf(objectOf(counts).costUSD),
  }));
  if (models.length === 0) return undefined;
  return {
    ...sumOf(models),
    ...costs,
    ...(model === '' ? {} : { model }),
    ...(models.length > 1 ? { models } : {}),
  };
}

/** The tokens of a run without a result, by its messages; those of the last one may be too few. */
export function usageOfMessages(messages: Iterable<JsonObject>, model: string): Usage | undefined {
  const counts = [...messages].map(countTokens);
  if (counts.length === 0) return undefined;
  return { ...sumOf(counts), ...(model === '' ? {} : { model }) };
}

function sumOf(counts: readonly ReturnType<typeof countTokens>[]) {
  const sum = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  for (const one of counts) {
    sum.inputTokens += one.inputTokens;
    sum.outputTokens += one.outputTokens;
    sum.cachedInputTokens += one.cachedInputTokens;
  }
  return sum;
}

/** Cached input counts as input: the model read it, and it is billed at its own price. */
function countTokens(counts: JsonObject) {
  const cached = countOf(counts.cacheReadInputTokens ?? counts.cache_read_input_tokens);
  return {
    inputTokens:
      countOf(counts.inputTokens ?? counts.input_tokens) +
      countOf(counts.cacheCreationInputTokens ?? counts.cache_creation_input_tokens) +
      cached,
    outputTokens: countOf(counts.outputTokens ?? counts.output_tokens),
    cachedInputTokens: cached,
  };
}

function costOf(cost: unknown): { costUsd?: number } {
  return typeof cost === 'number' && cost >= 0 ? { costUsd: cost } : {};
}
