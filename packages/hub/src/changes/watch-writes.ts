import type { Change } from '@signalbox/contract';
import type { Database, RowWrite, TextWrite } from '../db/engine.ts';
import { watchedTables } from './watched-tables.ts';

/** A committed change. A workspace that is null: of any workspace. */
export interface CommittedChange extends Change {
  workspaceId: string | null;
}

/**
 * Announces what the actions of a database change, once they are durable. It takes this from the
 * writes, so no operation has to announce anything, and none can forget it.
 */
export function watchWrites(
  database: Database,
  announce: (changes: readonly CommittedChange[]) => void,
): void {
  database.watch((tx, write) => {
    const changes = changesOf(write);
    if (changes.length > 0) tx.afterCommit(() => announce(changes));
  });
}

function changesOf(write: TextWrite | RowWrite): CommittedChange[] {
  const watched = watchedTables[write.table];
  if (watched === undefined) return [];
  const { verb, about } = write;
  const { set, where } = 'set' in write ? write : { set: {}, where: {} };
  const columns = Object.keys(set);
  // An update by a text does not tell its columns, so it is announced.
  const isSilent = columns.length > 0 && columns.every((each) => watched.silent?.includes(each));
  if (verb === 'update' && isSilent) return [];
  const chosenBy: RowWrite['set' | 'where'] = verb === 'insert' ? set : where;
  const textOf = (column: string | null) => {
    const value = column === null ? null : (about?.[column] ?? chosenBy[column]);
    return typeof value === 'string' ? value : null;
  };
  const workspaceId = textOf('workspace_id');
  const id = textOf(watched.id);
  return watched.kind({ id, set }).map((kind) => ({ workspaceId, kind, id }));
}
