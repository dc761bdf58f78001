const STEPS_MAX = 32;
/** The last place that a list can have: bodies are smaller. */
const indexPattern = /^(?:0|[1-9]\d{0,5})$/;

/**
 * The names on the way to a value: `data.labels.0`, or the JSON pointer `/data/labels/0` where a
 * name holds a dot itself. Null for what is no path.
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
 * Walks along a path over own members and list positions alone: what every object has of its
 * prototype is out of reach. Undefined where there is nothing.
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
