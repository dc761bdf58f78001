import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNode } from './run-node.ts';
import { type BundlePlan, findBundle } from './source-bundle.ts';
import { nameSourcesInStacks } from './stack-sources.ts';

export function planHubBundle(root: string): BundlePlan {
  return {
    root,
    place: join(root, 'node_modules/.cache/signalbox-hub'),
    entries: ['packages/hub/src/index.ts'],
  };
}

/**
 * Bundles the hub if its sources have changed since the last time, for `useHubBundle`
 * (docs/decisions/0057). Returns null, and says why, if the hub has to run from its sources.
 *
 * @param say receives a line before a build.
 */
export async function buildHub(root: string, say: (line: string) => void): Promise<string | null> {
  const plan = planHubBundle(root);
  const found = findBundle(plan);
  if (found !== null) return found;
  say('Bundling the hub …');
  try {
    // In a separate process, to keep the bundler out of the hub's memory.
    await runNode(
      'Bundling the hub',
      [join(import.meta.dirname, 'write-hub-bundle.ts'), root],
      root,
    );
  } catch (error) {
    // Such as a folder that this user may not write to. The sources are as good, but slower.
    say(`${(error as Error).message}\nThe hub starts from its sources.`);
    return null;
  }
  return findBundle(plan);
}

/** From now on, this process loads the hub from the bundle. */
export async function useHubBundle(bundle: string): Promise<void> {
  const { href } = pathToFileURL(bundle);
  nameSourcesInStacks(new URL('.', href).href);
  await import(href);
}
