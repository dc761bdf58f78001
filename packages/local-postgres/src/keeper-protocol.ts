import type { SystemUser } from './system-user.ts';

/** The keeper's first input: one line of JSON on its standard input, which then stays open. */
export interface KeeperOrder {
  /** The PostgreSQL folder with `bin`, `lib`, `share`. */
  readonly binaries: string;
  /** All files of this server and nothing else; the keeper removes it at the end. */
  readonly folder: string;
  readonly user: SystemUser | null;
  readonly initdbArguments: readonly string[];
  /** Settings of postgres(1), by name. */
  readonly settings: Readonly<Record<string, string>>;
}

/** SIGINT: ends sessions and writes a checkpoint. SIGQUIT: immediately. SIGKILL: as in a crash. */
export type EndSignal = 'SIGINT' | 'SIGQUIT' | 'SIGKILL';

/** A request to the keeper of a running server, as one line of JSON. */
export type KeeperRequest = { readonly end: EndSignal } | { readonly start: true };

/**
 * The keeper's answer to a completed request, as one line of JSON on its standard output. The
 * server's port never changes.
 */
export type KeeperMessage = { readonly port: number } | { readonly failure: string };

/** A socket in the server's folder. A successful connection proves that the keeper is alive. */
export const keeperSocketName = 'keeper';
/** The password of the superuser for initdb, in the server's folder. */
export const passwordFileName = 'password';
/** The folder of PostgreSQL's own socket, in the server's folder. */
export const socketFolderName = 'socket';
export const superUser = 'signalbox';
