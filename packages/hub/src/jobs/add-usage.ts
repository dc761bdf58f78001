import type { Usage } from '@signalbox/contract';

/** The contract's limit of models in one usage. */
const MODELS_MAX = 20;

type Counts = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'costUsd'>;
const names = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'costUsd'] as const;

/** Adds what one more attempt has used to what the attempts of a job before it have used. */
export function addUsage(known: Usage | null, more: Usage | undefined): Usage | null {
  if (known === null || more === undefined) return more ?? known;
  const model = more.model ?? known.model;
  const models = addModels([...partsOf(known), ...partsOf(more)]);
  return {
    ...addCounts(known, more),
    ...(model === undefined ? {} : { model }),
    ...(models.length > 1 ? { models } : {}),
  };
}

/** The usage by model. One without parts is of the one model that it names. */
function partsOf({ models, model, ...counts }: Usage): NonNullable<Usage['models']> {
  if (models !== undefined) return models;
  return model === undefined ? [] : [{ model, ...counts }];
}

function addModels(parts: NonNullable<Usage['models']>): NonNullable<Usage['models']> {
  const sums = new Map<string, NonNullable<Usage['models']>[number]>();
  for (const part of parts) {
    const sum = sums.get(part.model);
    sums.set(part.model, sum === undefined ? part : { ...addCounts(sum, part), model: part.model });
  }
  return [...sums.values()].slice(0, MODELS_MAX);
}

/** A count that neither tells stays absent, because unknown is not 0. */
function addCounts(a: Counts, b: Counts): Counts {
  const sum: Counts = {};
  for (const name of names) {
    if (a[name] !== undefined || b[name] !== undefined) sum[name] = (a[name] ?? 0) + (b[name] ?? 0);
  }
  return sum;
}
