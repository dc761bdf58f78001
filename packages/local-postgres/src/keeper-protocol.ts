import type { SystemUser } from './system-user.ts';

/** What the keeper is told, as one line of JSON on its standard input, which then stays open. */
export interface KeeperOrder {
  /** Of PostgreSQL: `bin`, `lib`, `share`. */
  readonly binaries: string;
  /** Everything of this server, and only this server; the keeper removes it at the end. */
  readonly folder: string;
  readonly user: SystemUser | null;
  readonly initdbArguments: readonly string[];
  /** Of postgres(1), by name. */
  readonly settings: Readonly<Record<string, string>>;
}

/** SIGINT: ends sessions and writes a checkpoint; SIGQUIT: at once; SIGKILL: as in a crash. */
export type EndSignal = 'SIGINT' | 'SIGQUIT' | 'SIGKILL';

/** What the keeper may be asked once the server runs, as one line of JSON each. */
export type KeeperRequest = { readonly end: EndSignal } | { readonly start: true };

/**
 * What the keeper says, as one line of JSON on its standard output, when what it was asked for is
 * done: the server's port, which stays the same.
 */
export type KeeperNews = { readonly port: number } | { readonly failure: string };

/** Inside the server's folder. Whoever can connect to it knows that the keeper lives. */
export const keeperSocketName = 'keeper';
/** Inside the server's folder: the password of the superuser, for initdb. */
export const passwordFileName = 'password';
/** Inside the server's folder: PostgreSQL's own socket. */
export const socketFolderName = 'socket';
export const superUser = 'signalbox';
