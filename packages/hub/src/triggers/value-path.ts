const STEPS_MAX = 32;
/** Indexes up to six digits: no list in a body is longer. */
const indexPattern = /^(?:0|[1-9]\d{0,5})$/;

/**
 * Splits a path into its steps. A path is `data.labels.0`, or the JSON pointer `/data/labels/0` for
 * names that contain a dot. Null for an invalid path.
 */
export function parsePath(path: string): string[] | null {
  const steps = path.startsWith('/')
    ? path
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : path.split('.');
  return steps.length > STEPS_MAX || steps.includes('') ? null : steps;
}

/**
 * Reads the value at a path. Only own members and list positions are followed, never members of a
 * prototype. Undefined when there is no value.
 */
export function readPath(value: unknown, steps: readonly string[]): unknown {
  let at = value;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null) return undefined;
    if (Array.isArray(at)) at = indexPattern.test(step) ? at[Number(step)] : undefined;
    else at = Object.hasOwn(at, step) ? (at as Record<string, unknown>)[step] : undefined;
  }
  return at;
}
