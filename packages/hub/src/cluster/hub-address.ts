import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDataDirectoryLocked } from '../db/data-directory.ts';
import type { Reader } from '../db/engine.ts';
import type { Config } from '../start/config.ts';
import { listLiveHubs } from './hub-heartbeat.ts';

/*
 * A hub writes its address to the data directory while it runs, so that admin commands print links
 * that lead to it. They cannot know the address otherwise: the port may be a flag of the hub alone,
 * or any free port.
 */

const ADDRESS_FILE = 'hub.address';

interface AddressNote {
  /** The hub that wrote it: several hubs on one PostgreSQL may share a data directory. */
  hubId: string;
  baseUrl: string;
}

/** The address of a printed link, and where it comes from. */
export interface LinkAddress {
  baseUrl: string;
  /**
   * setting: SVC_BASE_URL or --base-url; running-hub: written by the hub that runs on this data
   * directory; assumed: made from SVC_HOST and SVC_PORT, because no running hub was found.
   */
  source: 'setting' | 'running-hub' | 'assumed';
}

/** Writes the address of a hub that has begun to listen. */
export function writeHubAddress(directoryPath: string, note: AddressNote): void {
  const path = join(directoryPath, ADDRESS_FILE);
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
}

/**
 * Removes the address file.
 *
 * @param hubId the hub that stops: an address that another hub has written since is kept. Absent:
 *   the caller has the directory's lock, so the hub that wrote the file has ended.
 */
export function removeHubAddress(directoryPath: string, hubId?: string): void {
  if (hubId !== undefined && readHubAddress(directoryPath)?.hubId !== hubId) return;
  rmSync(join(directoryPath, ADDRESS_FILE), { force: true });
}

/** Finds the address for the links that an admin command prints. */
export async function findLinkAddress(
  config: Pick<Config, 'baseUrl' | 'host' | 'port' | 'databaseUrl'>,
  directoryPath: string,
  reader: Reader,
): Promise<LinkAddress> {
  if (config.baseUrl !== null) return { baseUrl: config.baseUrl, source: 'setting' };
  const running = await findRunningAddress(directoryPath, reader);
  if (running !== null) return { baseUrl: running, source: 'running-hub' };
  return { baseUrl: addressOf(config), source: 'assumed' };
}

/** Finds the address of the hub that runs on a data directory; null: none has begun to listen. */
export async function findRunningAddress(
  directoryPath: string,
  reader: Reader,
): Promise<string | null> {
  const note = readHubAddress(directoryPath);
  if (note === null || !(await isRunning(note, directoryPath, reader))) return null;
  return note.baseUrl;
}

/** Checks that the hub that wrote the note runs: a hub that was killed leaves its note behind. */
async function isRunning(
  { hubId }: AddressNote,
  directoryPath: string,
  reader: Reader,
): Promise<boolean> {
  if (reader.engine === 'sqlite') return isDataDirectoryLocked(directoryPath);
  return (await listLiveHubs(reader)).some((hub) => hub.hubId === hubId);
}

/** Reads the address file; null if there is no such file. */
export function readHubAddress(directoryPath: string): AddressNote | null {
  let text: string;
  try {
    text = readFileSync(join(directoryPath, ADDRESS_FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  // writeHubAddress replaces the file in one rename, so it is always whole.
  return JSON.parse(text) as AddressNote;
}

/** The address at which this machine reaches a hub with these settings. */
function addressOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const isEveryAddress = host === '0.0.0.0' || host === '::';
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${isEveryAddress ? 'localhost' : name}:${port}`;
}
