import { readConfigFile, updateConfigFile } from './config-file.ts';

const FILE_NAME = 'repositories.json';

/** Maps a clone on this machine to a repository of a workspace. Stored on this machine only. */
export interface LinkedClone {
  url: string;
  workspaceId: string;
  repoId: string;
  label: string;
  /** The absolute path of the clone's top directory. */
  path: string;
}

type Place = Pick<LinkedClone, 'url' | 'workspaceId'>;

/**
 * The clones linked to a workspace. A clone is one repository: the latest link of a path counts.
 */
export async function readLinkedClones(
  env: NodeJS.ProcessEnv,
  place: Place,
): Promise<LinkedClone[]> {
  const clones = clonesOf(await readConfigFile(env, FILE_NAME));
  const linked = clones.filter((clone) => isSameWorkspace(clone, place));
  return [...new Map(linked.map((clone) => [clone.path, clone])).values()];
}

/**
 * Links a clone. Its path may have been another repository, if its origin has changed since.
 * @returns the path of the clone that it replaces, or null.
 */
export async function linkClone(
  env: NodeJS.ProcessEnv,
  linked: LinkedClone,
): Promise<string | null> {
  return await updateConfigFile(env, FILE_NAME, (before) => {
    const clones = clonesOf(before);
    const isSame = (clone: LinkedClone) =>
      isSameWorkspace(clone, linked) && clone.repoId === linked.repoId;
    const replaced = clones.find((clone) => isSame(clone) && clone.path !== linked.path);
    const isPlace = (clone: LinkedClone) =>
      isSameWorkspace(clone, linked) && clone.path === linked.path;
    const kept = clones.filter((clone) => !isSame(clone) && !isPlace(clone));
    const after = { version: 1, repositories: [...kept, linked] };
    return { after, result: replaced?.path ?? null };
  });
}

/** Unlinks a clone. Does nothing if it is not linked. */
export async function unlinkClone(env: NodeJS.ProcessEnv, linked: LinkedClone): Promise<void> {
  await updateConfigFile(env, FILE_NAME, (before) => {
    const isOther = (clone: LinkedClone) =>
      !isSameWorkspace(clone, linked) || clone.repoId !== linked.repoId;
    const after = { version: 1, repositories: clonesOf(before).filter(isOther) };
    return { after, result: undefined };
  });
}

function isSameWorkspace(a: Place, b: Place): boolean {
  return a.url === b.url && a.workspaceId === b.workspaceId;
}

function clonesOf(value: unknown): LinkedClone[] {
  const { repositories } = (value ?? {}) as { repositories?: unknown };
  return Array.isArray(repositories) ? repositories.filter(isLinkedClone) : [];
}

function isLinkedClone(value: unknown): value is LinkedClone {
  const fields = ['url', 'workspaceId', 'repoId', 'label', 'path'] as const;
  if (typeof value !== 'object' || value === null) return false;
  return fields.every((field) => typeof (value as Partial<LinkedClone>)[field] === 'string');
}
