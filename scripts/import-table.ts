/**
 * Who may import whom: the table of the design, as data and one function. `check-imports.ts`
 * finds the imports; this file judges each by where it stands and where it points.
 */

/** A file of the project by where it lives, or a package from outside. */
export interface Place {
  /** Path relative to the project's root, with `/`. */
  readonly path: string;
  /** Folder under packages/, or undefined for the root's own folders. */
  readonly package: string | undefined;
  /** `src` is what ships; everything else (tests, settings of tools) is `aside`. */
  readonly part: 'src' | 'aside';
  /** Path inside the package's src folder; empty for `aside`. */
  readonly inner: string;
}

interface PackageRule {
  /** Packages of the house that every file may import. */
  readonly packages: readonly string[];
  /** Further ones, each only from files whose path in src matches. */
  readonly onlyFrom?: Readonly<Record<string, RegExp>>;
  /** Runs in a browser too, so no `node:` modules. */
  readonly browser?: true;
  /** When given, the only outside packages. */
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
      agent: /^commands\/(agent|cloud-ai)(-[^/]+)?\.ts$/,
      hub: /^commands\/(serve|admin)(-[^/]+)?\.ts$/,
    },
  },
};

/**
 * The rooms of the hub. Every noun's folder has the same doors (routes, policy, store, actions,
 * present; `claim-actions.ts` and `store-events.ts` are doors of their kind); any other file in it
 * is its `inside`, which may use the database, the contract and its own folder. A noun small
 * enough for one file is `small-noun`: all doors at once. `ground` are the few files at the top of
 * src that every room stands on (errors, clock, …); they may import each other and the contract.
 */
export type Room =
  | 'door'
  | 'entry'
  | 'config'
  | 'ground'
  | 'http'
  | 'db'
  | 'queue'
  | 'loops'
  | 'routes'
  | 'policy'
  | 'store'
  | 'actions'
  | 'present'
  | 'inside'
  | 'small-noun';

interface RoomRule {
  /** Rooms whose values may be imported, whichever noun they belong to. */
  readonly rooms: readonly Room[];
  /** Rooms of the same noun that may be imported as well. */
  readonly own?: readonly Room[];
  /** Values of nothing; types of everything. */
  readonly typesOnly?: true;
  readonly says: string;
}

const nounRooms: readonly Room[] = ['routes', 'policy', 'store', 'actions', 'present', 'inside'];

export const roomRules: Readonly<Record<Exclude<Room, 'door' | 'entry'>, RoomRule>> = {
  config: { rooms: ['config'], says: 'config imports the contract only' },
  ground: { rooms: [], says: 'files at the top of src import the contract and each other only' },
  http: { rooms: ['http', 'config'], says: 'http imports contract and config, never a noun' },
  db: { rooms: ['db', 'config'], says: 'db imports contract and config, never a noun' },
  queue: { rooms: ['queue', 'db'], says: 'queue imports db and contract' },
  loops: {
    rooms: ['loops', 'actions', 'store', 'queue', 'db', 'small-noun'],
    says: 'loops import actions, stores, queue and db',
  },
  routes: {
    rooms: ['http', 'actions', 'small-noun'],
    own: nounRooms,
    says: "routes import http, their own folder and any noun's actions",
  },
  policy: { rooms: [], typesOnly: true, says: 'a policy imports types only (import type)' },
  store: { rooms: ['db'], own: ['inside'], says: 'a store imports db and contract' },
  actions: {
    rooms: ['actions', 'store', 'policy', 'present', 'queue', 'db', 'small-noun'],
    own: ['inside'],
    says: 'actions import actions, stores, policies, queue and db',
  },
  present: {
    rooms: ['present'],
    own: ['inside', 'policy'],
    says: 'a presenter imports the contract, other presenters and what is pure in its folder',
  },
  inside: { rooms: ['db'], own: nounRooms, says: 'the inside of a noun imports db and its folder' },
  'small-noun': {
    rooms: ['http', 'db', 'queue', 'store', 'policy', 'actions', 'present', 'small-noun'],
    says: 'a noun of one file imports http, db, queue, stores, policies and actions',
  },
};

/** Their types are what rooms hand each other; holding a handle is not reaching into a room. */
const roomsWithOpenTypes: readonly Room[] = ['config', 'db', 'queue'];

/** What composes the rooms: the hub, its start, and the commands that work beside it. */
const entries = ['app.ts', 'main.ts', 'admin.ts', 'gatekeeper.ts'];
const nouns = new Set(
  (
    'workspaces people tokens devices agents repositories jobs runs uncertainties cloud-ai-jobs ' +
    'context uploads integrations triggers audit'
  ).split(' '),
);
const nounDoor = /(?:^|-)(routes|policy|store|actions|present)(?:-[^/]*)?$/;

/** The room of a file of the hub, and its noun where it has one. */
export function roomOf(inner: string): { room: Room; noun: string | undefined } {
  const [first = '', ...rest] = inner.split('/');
  if (rest.length === 0) return { room: topRoomOf(first), noun: undefined };
  if (first === 'http' || first === 'db' || first === 'queue' || first === 'loops') {
    return { room: first, noun: undefined };
  }
  const name = rest.length === 1 ? rest.join('').replace(/\.tsx?$/, '') : '';
  const door = nounDoor.exec(name)?.[1] as Room | undefined;
  return { room: door ?? 'inside', noun: first };
}

function topRoomOf(file: string): Room {
  if (file === 'index.ts') return 'door';
  if (entries.includes(file)) return 'entry';
  if (file === 'config.ts') return 'config';
  return nouns.has(file.replace(/\.ts$/, '')) ? 'small-noun' : 'ground';
}

/** Why a file of the hub may not import another; undefined when it may. */
export function judgeRooms(from: string, to: string, typeOnly: boolean): string | undefined {
  const source = roomOf(from);
  const target = roomOf(to);
  if (target.room === 'door') return 'nobody imports the door of its own package';
  if (source.room === 'door') return undefined;
  if (target.room === 'entry') {
    return source.room === 'entry' ? undefined : `${entries.join(', ')} are imported by nobody`;
  }
  if (source.room === 'entry') return undefined;
  const rule = roomRules[source.room];
  if (rule.typesOnly) return typeOnly ? undefined : rule.says;
  if (target.room === 'ground' || rule.rooms.includes(target.room)) return undefined;
  const isOwn = source.noun !== undefined && source.noun === target.noun;
  // A presenter must know the shape of its noun's row; what is in one folder is one thing.
  if (typeOnly && (isOwn || roomsWithOpenTypes.includes(target.room))) return undefined;
  // Whoever may call a noun's actions may name what they take and give.
  if (typeOnly && target.noun !== undefined && rule.rooms.includes('actions')) return undefined;
  return isOwn && rule.own?.includes(target.room) ? undefined : rule.says;
}

/** Why a file may not import a package of the house by its name; undefined when it may. */
export function judgePackage(from: Place, target: string): string | undefined {
  if (from.package === target && from.part === 'src') {
    return 'files of one package import each other by path';
  }
  if (from.package === undefined || from.part === 'aside') return undefined;
  const rule = packageRules[from.package];
  if (rule === undefined) return `packages/${from.package} has no row in the import table`;
  if (rule.packages.includes(target)) return undefined;
  const pattern = rule.onlyFrom?.[target];
  if (pattern?.test(from.inner)) return undefined;
  return pattern === undefined
    ? `${from.package} does not import ${target}`
    : `${from.package} imports ${target} only from src/${pattern.source}`;
}

/** Why a file may not import something from outside the house; undefined when it may. */
export function judgeOutside(from: Place, target: string): string | undefined {
  if (from.package === undefined || from.part === 'aside') return undefined;
  const rule = packageRules[from.package];
  if (target.startsWith('node:')) {
    return rule?.browser ? `${from.package} runs in browsers: no node: modules` : undefined;
  }
  if (rule?.outside === undefined || rule.outside.includes(target)) return undefined;
  return `${from.package} imports ${rule.outside.join(', ')} only`;
}
