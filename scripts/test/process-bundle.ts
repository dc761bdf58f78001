import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBundle } from './source-bundle.ts';

/**
 * The modules that tests start as processes: the command with agents and hubs, the hub of
 * `npm start`, and the agents, tools and hubs of the agent's tests.
 */
export const bundledScripts = [
  'packages/cli/src/main.ts',
  'packages/hub/src/index.ts',
  ...['acp-agent.ts', 'acp-agent-process.ts', 'agent-process.ts', 'hub-apart.ts'].map(
    (name) => `packages/agent/test/support/${name}`,
  ),
];

/**
 * Bundles what the tests start as processes, unless a bundle of the same sources exists, and
 * returns the option of Node that uses it. A process that loads a few files instead of a thousand
 * starts with a third of the processor time, and the tests start thousands of processes.
 *
 * @throws with the bundler's message when the sources cannot be bundled.
 */
export async function bundleProcesses(root: string): Promise<string> {
  const place = join(root, 'node_modules/.cache/test-bundles');
  const preload = await ensureBundle({ root, place, entries: bundledScripts });
  return `--import=${pathToFileURL(preload).href}`;
}
