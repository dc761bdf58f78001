import { chmodSync, closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Reader } from '../engine.ts';
import { Connection } from './sqlite-connection.ts';

/** All pages in one step: between steps, each write of the hub would make the copy begin again. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies a database to a new file, also while a hub writes to it: the copy has one state, including
 * all that was acknowledged before the call. The file is complete by itself, without a log.
 */
export async function copySqlite(source: string, target: string): Promise<void> {
  closeSync(openSync(target, 'wx', 0o600));
  const from = new DatabaseSync(source, { readOnly: true });
  try {
    await backup(from, target, { rate: ALL_PAGES });
  } finally {
    from.close();
  }
  const copy = new DatabaseSync(target);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
  } finally {
    copy.close();
  }
  chmodSync(target, 0o600);
  const file = await open(target, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Opens a database for reading only. A hub may be using it. */
export function openSqliteReader(path: string): { reader: Reader; close(): Promise<void> } {
  const connection = new Connection(path, { readOnly: true });
  return { reader: connection, close: async () => connection.close() };
}
