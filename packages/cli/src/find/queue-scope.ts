import type { HubSession } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';
import { readRepositoryLabels } from './names.ts';
import { findRepository } from './repository-reference.ts';

export interface QueueScope {
  workspaceId: string;
  /** Null: the whole workspace. */
  repoId: string | null;
  /** For people. */
  name: string;
}

/** Resolves `--repo` of the commands that pause and resume. */
export async function readQueueScope(
  io: Io,
  session: HubSession,
  repo: string | undefined,
): Promise<QueueScope> {
  const { workspaceId, workspaceSlug } = session;
  if (repo === undefined) {
    return { workspaceId, repoId: null, name: workspaceSlug ?? 'the workspace' };
  }
  const repoId = await findRepository(io, session, repo);
  const labels = io.json ? new Map() : await readRepositoryLabels(session, io.signal);
  return { workspaceId, repoId, name: labels.get(repoId) ?? repoId };
}
