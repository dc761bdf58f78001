import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Place } from './bubblewrap.ts';

/** The parts of the machine that a wrap shows or hides, beside those that a job has. */
export interface MachinePlaces {
  /** The home directory of the user that tools run as. */
  home: string;
  /** Directories and files of the agent: its state, its login, its token. */
  agentPaths: readonly string[];
  /** The clones of the agent's repositories. */
  clones: readonly string[];
  /** Further paths that a tool needs. */
  readable: readonly string[];
}

/** The files of a job for its tool. */
export interface JobPlaces {
  /** Empty directories, which become the home directory and `/tmp`. */
  own: { home: string; temporary: string };
  readable: readonly string[];
  writable: readonly string[];
}

/** Programs and settings in a home directory that hold no secrets. */
const readableInHome = [
  ...['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'],
  ...['.local/bin', '.local/lib', '.local/pipx', '.local/share/claude', '.local/share/fnm'],
  ...['.local/share/mise', '.local/share/pipx', '.local/share/pnpm', '.local/share/uv'],
  ...['.asdf', '.bun', '.cargo/bin', '.deno', '.npm-global', '.nvm', '.opencode', '.pyenv'],
  ...['.rbenv', '.rustup', '.sdkman', '.volta', 'go/bin'],
];

interface ToolPlaces {
  /** The variable that names its directory, in place of the first one. */
  variable?: string;
  /** Where it keeps its login and its sessions. */
  writable: readonly string[];
  /** In the first of them: what a later start outside of a job would take as an order. */
  fixed: readonly string[];
}

const toolPlaces: Readonly<Record<string, ToolPlaces>> = {
  claude: {
    variable: 'CLAUDE_CONFIG_DIR',
    writable: ['.claude', '.claude.json'],
    fixed: [
      ...['settings.json', 'settings.local.json', 'CLAUDE.md', 'agents', 'commands', 'hooks'],
      ...['plugins', 'skills'],
    ],
  },
  codex: {
    variable: 'CODEX_HOME',
    writable: ['.codex'],
    fixed: ['config.toml', 'hooks.json', 'AGENTS.md', 'prompts', 'rules', 'skills'],
  },
  opencode: {
    writable: ['.local/share/opencode', '.local/state/opencode'],
    fixed: ['bin', 'plugins'],
  },
  gemini: {
    writable: ['.gemini'],
    fixed: ['settings.json', 'GEMINI.md', 'commands', 'extensions', 'policies'],
  },
};

/** In `/run`, beside the sockets of services: name resolution, programs of NixOS. */
const readableInRun = ['systemd/resolve', 'current-system', 'wrappers'];

/** Files of other programs of the person that are tried when a wrap is proved. */
const secretsInHome = [
  ...['.ssh', '.aws', '.gnupg', '.kube', '.docker', '.config/gh', '.config/gcloud', '.azure'],
  ...['.netrc', '.npmrc', '.pypirc', '.git-credentials', '.config/git/credentials'],
];

/** Lists what a wrapped tool finds where. */
export function placesOf(
  machine: MachinePlaces,
  job: JobPlaces,
  tool: string,
  env: NodeJS.ProcessEnv,
): Place[] {
  const { home, agentPaths, clones, readable } = machine;
  const { own } = job;
  const as = (paths: readonly string[], how: Place['as']) =>
    paths.map((path): Place => ({ path, as: how }));
  const ofTool = placesOfTool(tool, home, env);
  return [
    { path: '/run', as: 'hidden' },
    ...as(['/tmp', '/var/tmp'], { directory: own.temporary }),
    { path: home, as: { directory: own.home } },
    ...as([...clones, ...agentPaths], 'hidden'),
    ...as(inHome(home, readableInHome), 'readable'),
    ...as(
      readableInRun.map((name) => join('/run', name)),
      'readable',
    ),
    ...as([...ownPrograms(), ...readable, ...job.readable], 'readable'),
    ...as([...ofTool.writable, ...job.writable], 'writable'),
    ...as(ofTool.fixed, 'readable'),
  ];
}

function placesOfTool(tool: string, home: string, env: NodeJS.ProcessEnv) {
  const known = toolPlaces[tool];
  if (known === undefined) return { writable: [], fixed: [] };
  const named = known.variable === undefined ? undefined : env[known.variable];
  const [first = '', ...others] = inHome(home, known.writable);
  const directory = named ?? first;
  return {
    writable: [directory, ...others],
    fixed: known.fixed.map((name) => join(directory, name)),
  };
}

const inHome = (home: string, names: readonly string[]) => names.map((name) => join(home, name));

/** This installation and its Node: a tool starts `signalbox mcp` to ask people. */
function ownPrograms(): string[] {
  let root = import.meta.dirname;
  while (root !== dirname(root) && !existsSync(join(root, 'node_modules/@signalbox'))) {
    root = dirname(root);
  }
  return root === dirname(root) ? [process.execPath] : [process.execPath, root];
}

/** The names in the home directory that are there for a wrapped tool. */
export function seenInHome(home: string, places: readonly Place[]): Set<string> {
  const names = places
    .map(({ path }) => relative(home, path).split('/')[0] ?? '')
    .filter((name) => name !== '' && name !== '..');
  return new Set(names);
}

const systemDirectories = ['/', '/etc', '/usr', '/usr/local/bin', '/var'];

/** Directories that a wrapped tool sees, and must not write to. */
export function directoriesOfOthers(places: readonly Place[]): string[] {
  const readable = places.filter(({ as }) => as === 'readable').map(({ path }) => path);
  return [...systemDirectories, ...readable.filter((path) => isDirectory(path))];
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The person's secrets and clones, as files with content. */
export function filesToTry({ home, clones, readable }: MachinePlaces): string[] {
  const isAllowed = (path: string) => readable.some((each) => `${path}/`.startsWith(`${each}/`));
  return [...inHome(home, secretsInHome), ...clones.map((clone) => join(clone, '.git'))]
    .filter((path) => !isAllowed(path))
    .flatMap(someFile);
}

/** A file itself, or the first file in a directory. */
export function someFile(path: string): string[] {
  try {
    if (statSync(path).isFile()) return [path];
    const entries = readdirSync(path, { withFileTypes: true });
    const file = entries.find((entry) => entry.isFile());
    return file === undefined ? [] : [join(path, file.name)];
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return [];
    throw error;
  }
}
