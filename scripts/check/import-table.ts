/**
 * The import rules of the design, as data and a few functions. `check-imports.ts` finds the
 * imports; this file judges each by the folders of both ends. File names do not matter.
 */

/** A file of the project, by its location. */
export interface Place {
  /** Path relative to the project's root, with `/`. */
  readonly path: string;
  /** Folder under packages/, or undefined for the root's own folders. */
  readonly package: string | undefined;
  /** `src` is shipped code; everything else (tests, tool settings) is `aside`. */
  readonly part: 'src' | 'aside';
  /** Path inside the package's src folder; empty for `aside`. */
  readonly inner: string;
}

interface PackageRule {
  /** Packages of the project that every file may import. */
  readonly packages: readonly string[];
  /** Further packages, each importable from one folder of src only. */
  readonly onlyFrom?: Readonly<Record<string, string>>;
  /** Also runs in browsers, so no `node:` modules. */
  readonly browser?: true;
  /** If given, the only external packages allowed. */
  readonly outside?: readonly string[];
}

export const packageRules: Readonly<Record<string, PackageRule>> = {
  contract: { packages: [], browser: true, outside: ['typebox'] },
  sdk: { packages: ['contract'], browser: true },
  hub: { packages: ['contract'] },
  'local-postgres': { packages: [] },
  agent: { packages: ['sdk', 'contract'] },
  console: { packages: ['sdk', 'contract'], browser: true },
  cli: {
    packages: ['sdk', 'contract'],
    onlyFrom: {
      agent: 'commands/agent/',
      hub: 'commands/hub/',
    },
  },
};

/**
 * The layers of the hub, lowest first. `base` everything may use (errors, clock, …). `module` are
 * the folders of the domain, and `ports` is what they get from those above them. `entry` are the
 * files that compose the hub, and `exports` is its public interface.
 */
export type Layer =
  | 'base'
  | 'config'
  | 'http'
  | 'db'
  | 'cluster'
  | 'queue'
  | 'ports'
  | 'module'
  | 'loops'
  | 'entry'
  | 'exports';

/** The layers whose values each layer may import, in addition to its own folder and `base`. */
export const layerRules: Readonly<Record<Layer, readonly Layer[]>> = {
  base: [],
  config: [],
  http: ['config'],
  db: ['config'],
  cluster: ['db', 'config'],
  queue: ['db'],
  ports: [],
  module: ['module', 'ports', 'queue', 'db', 'http'],
  loops: ['module', 'ports', 'queue', 'cluster', 'db'],
  entry: ['entry', 'loops', 'module', 'ports', 'queue', 'cluster', 'db', 'http', 'config'],
  exports: ['entry', 'loops', 'module', 'ports', 'queue', 'cluster', 'db', 'http', 'config'],
};

/** Layers that may not import even types of the domain. */
const domainBlind: readonly Layer[] = ['base', 'http', 'db', 'cluster', 'queue', 'config'];
const domain: readonly Layer[] = ['ports', 'module', 'loops', 'entry', 'exports'];

/** Files of `start/` that do not compose the hub. */
const startLayers: ReadonlyMap<string, Layer> = new Map([
  ['config.ts', 'config'],
  ['setting-values.ts', 'config'],
  ['hooks.ts', 'ports'],
  ['hub-deps.ts', 'ports'],
]);

/** The layer of a hub file, and its module if it has one. */
export function layerOf(inner: string): { layer: Layer; module: string | undefined } {
  const [first = '', ...rest] = inner.split('/');
  if (rest.length === 0) return { layer: 'exports', module: undefined };
  switch (first) {
    case 'start':
      return { layer: startLayers.get(rest.join('/')) ?? 'entry', module: undefined };
    case 'base':
    case 'http':
    case 'db':
    case 'cluster':
    case 'queue':
    case 'loops':
      return { layer: first, module: undefined };
    default:
      return { layer: 'module', module: first };
  }
}

/**
 * The reason why a hub file may not import another; undefined if it may. Cycles between modules are
 * found by `module-graph.ts`, which sees all imports together.
 */
export function judgeLayers(from: string, to: string, typeOnly: boolean): string | undefined {
  const { layer: source } = layerOf(from);
  const { layer: target } = layerOf(to);
  if (target === 'exports') return 'files of one package import each other by path, not index.ts';
  const entrance = entranceOf(to);
  if (entrance !== undefined && to !== entrance && folderOf(from) !== folderOf(to)) {
    return `${folderOf(to)}/ is entered through ${entrance}`;
  }
  if (target === 'base' || source === target) return undefined;
  if (typeOnly) {
    const isHidden = domainBlind.includes(source) && domain.includes(target);
    return isHidden ? `${source} must not import the domain, not even its types` : undefined;
  }
  if (layerRules[source].includes(target)) return undefined;
  const allowed = layerRules[source].join(', ') || 'nothing else of the hub';
  return `${source} imports base and ${allowed}`;
}

/** The only file of an engine's folder that files outside it may import. */
function entranceOf(inner: string): string | undefined {
  const [, engine] = /^db\/(sqlite|postgres)\//.exec(inner) ?? [];
  return engine === undefined ? undefined : `db/${engine}/${engine}-database.ts`;
}

function folderOf(inner: string): string {
  return inner.slice(0, Math.max(0, inner.lastIndexOf('/')));
}

/** The reason why a file may not import a package of the project by name; undefined if it may. */
export function judgePackage(from: Place, target: string): string | undefined {
  if (from.package === target && from.part === 'src') {
    return 'files of one package import each other by path';
  }
  if (from.package === undefined || from.part === 'aside') return undefined;
  const rule = packageRules[from.package];
  if (rule === undefined) return `packages/${from.package} has no row in the import table`;
  if (rule.packages.includes(target)) return undefined;
  const folder = rule.onlyFrom?.[target];
  if (folder === undefined) return `${from.package} does not import ${target}`;
  return from.inner.startsWith(folder)
    ? undefined
    : `${from.package} imports ${target} only from src/${folder}`;
}

/** The reason why a file may not import an external package; undefined if it may. */
export function judgeOutside(from: Place, target: string): string | undefined {
  if (from.package === undefined || from.part === 'aside') return undefined;
  const rule = packageRules[from.package];
  if (target.startsWith('node:')) {
    return rule?.browser ? `${from.package} runs in browsers: no node: modules` : undefined;
  }
  if (rule?.outside === undefined || rule.outside.includes(target)) return undefined;
  return `${from.package} imports ${rule.outside.join(', ')} only`;
}
