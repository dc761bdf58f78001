import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * The modules that tests start as processes: the command with agents and hubs, the hub of
 * `npm start`, and the agents, tools and hubs of the agent's tests.
 */
const scripts = [
  'packages/cli/src/main.ts',
  'packages/hub/src/index.ts',
  ...['acp-agent.ts', 'acp-agent-process.ts', 'agent-process.ts', 'hub-apart.ts'].map(
    (name) => `packages/agent/test/support/${name}`,
  ),
];
/** Packages of many small modules, which sources load by name when they first need them. */
const packages = ['typebox', 'typebox/compile', 'typebox/schema'];
/** Packages that starts of hubs, commands and agents load, with what they depend on. */
const startPackages = new RegExp(
  `^(${[
    ...['typebox', 'fastify', '@fastify/cookie', 'croner'],
    ...['commander', 'yaml', 'fast-wrap-ansi'],
    ...['zod', '@agentclientprotocol/sdk', '@modelcontextprotocol/server', '@ai-sdk/[a-z-]+'],
  ].join('|')})(/|$)`,
);
/** They look for files beside their own. */
const wholePackages = /^(pino|light-my-request)$/;

/**
 * Bundles what the tests start as processes, until this process ends, and returns the option of
 * Node that uses it. A process that loads a few files instead of a thousand starts with a third of
 * the processor time, and the tests start thousands of processes. Every process keeps its path, and
 * each module the path of its source: only its code comes from another file.
 *
 * @throws with the bundler's message when the sources cannot be bundled.
 */
export async function bundleProcesses(root: string): Promise<string> {
  const place = join(root, 'node_modules/.cache');
  mkdirSync(place, { recursive: true });
  const dir = mkdtempSync(join(place, 'test-bundle-'));
  // Tests start processes of other users.
  chmodSync(dir, 0o755);
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries([
      ...scripts
        .filter((script) => existsSync(join(root, script)))
        .map((one) => [one, join(root, one)]),
      ...packages.map((name) => [name, name]),
    ]),
    external: (id, importer) => !isBundled(id, importer),
    plugins: [{ name: 'paths', transform: keepPath }],
  });
  const { output } = await bundle.write({ dir, format: 'esm' });
  await bundle.close();
  const byUrl: [string, string][] = [];
  const byName: [string, string][] = [];
  for (const part of output) {
    if (part.type !== 'chunk' || !part.isEntry || part.facadeModuleId === null) continue;
    byUrl.push([pathToFileURL(part.facadeModuleId).href, part.fileName]);
    if (packages.includes(part.name)) byName.push([part.name, part.fileName]);
  }
  const preload = join(dir, 'preload.mjs');
  writeFileSync(preload, composePreload(byUrl, byName));
  return `--import=${pathToFileURL(preload).href}`;
}

/** Other packages stay what they are. */
function isBundled(id: string, importer: string | undefined): boolean {
  if (/^[./]/.test(id) || id.startsWith('@signalbox/')) return true;
  if (importer?.includes('/node_modules/')) return !wholePackages.test(id);
  return startPackages.test(id);
}

/** Worker threads, files of the console and hints are found from the path of the source. */
function keepPath(code: string, path: string) {
  if (path.includes('/node_modules/')) return undefined;
  const kept = code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
  return { code: kept, map: null };
}

/** Composes the module that has Node load the bundle instead of the sources. */
function composePreload(byUrl: [string, string][], byName: [string, string][]): string {
  return `import * as module from 'node:module';

const byUrl = new Map(${JSON.stringify(byUrl)});
const byName = new Map(${JSON.stringify(byName)});

// Some tests start programs on older Nodes, which have no such hooks.
module.registerHooks?.({
  resolve(specifier, context, next) {
    // Packages may need another version of what is bundled.
    const isOfSource = context.parentURL?.includes('/node_modules/') === false;
    const named = isOfSource ? byName.get(specifier) : undefined;
    const found = named === undefined ? next(specifier, context) : undefined;
    const fileName = named ?? byUrl.get(found.url);
    if (fileName === undefined) return found;
    return { url: new URL(fileName, import.meta.url).href, format: 'module', shortCircuit: true };
  },
});
`;
}
