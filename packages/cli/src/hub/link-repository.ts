import type { Repository } from '@signalbox/contract';
import type { Io } from '../terminal/io.ts';
import type { HubSession } from './hub-session.ts';
import { linkClone } from './linked-clones.ts';

/** A clone, as `readClone` returns it. */
interface Clone {
  remoteUrlHash: string;
  label: string;
  path: string;
}

interface LinkedRepository {
  repo: Repository;
  /** Whether the workspace did not have the repository. */
  created: boolean;
  /** The path of the clone that this one replaces; null: none. */
  replaced: string | null;
}

/**
 * Registers the repository of a clone in the workspace, by the hash of its remote, and stores the
 * path of the clone on this machine.
 *
 * @param chosenLabel the repository's name for people; absent: the one it has, else the clone's.
 */
export async function linkRepository(
  { env }: Pick<Io, 'env'>,
  { client, baseUrl, workspaceId }: Pick<HubSession, 'client' | 'baseUrl' | 'workspaceId'>,
  { remoteUrlHash, path, label: ownLabel }: Clone,
  chosenLabel?: string,
): Promise<LinkedRepository> {
  const known = await client.repositories.resolve({ workspaceId, remoteUrlHash });
  const label = chosenLabel ?? (known.repo?.label ? undefined : ownLabel);
  const draft = { workspaceId, remoteUrlHash, label };
  const { repo, repoId, created } = await client.repositories.upsert(draft);
  const linked = { url: baseUrl, workspaceId, repoId, label: repo.label, path };
  return { repo, created, replaced: await linkClone(env, linked) };
}
