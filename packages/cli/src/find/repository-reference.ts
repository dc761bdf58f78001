import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { HubSession } from '../hub/hub-session.ts';
import type { Io } from '../terminal/io.ts';

/**
 * Resolves a repository ID or a path in a clone to a repository ID.
 * @throws {CliError} NOT_A_CLONE, REPO_NOT_LINKED.
 */
export async function findRepository(io: Io, session: HubSession, text: string): Promise<string> {
  const path = resolve(text);
  if (/^repo_[0-9a-z]+$/.test(text) && !existsSync(path)) return text;
  const { client, workspaceId } = session;
  // Load what reads clones only when needed: most commands get no path.
  const { readClone } = await import('../commands/agent/read-clone.ts');
  const { remoteUrlHash, label } = await readClone(path, io.env);
  const { repoId } = await client.repositories.resolve({ workspaceId, remoteUrlHash });
  if (repoId !== null) return repoId;
  const message = `The repository ${label} is not linked to the workspace.`;
  throw new CliError(exitCodes.refused, 'REPO_NOT_LINKED', message, {
    fix: `signalbox repo link ${text}`,
  });
}
