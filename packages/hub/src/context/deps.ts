import { FRESH_TOTAL_MS } from '@signalbox/contract';
import type { Clock } from '../base/clock.ts';
import type { PrivateHosts } from '../base/outbound-hosts.ts';
import type { SideThread } from '../base/side-thread.ts';
import type { Database } from '../db/engine.ts';
import type { HookDeps } from '../start/hooks.ts';
import { ConnectionSlots } from './mail/connection-slots.ts';

/** As a caller of hooks, it offers summaries of long items. */
export interface ContextDeps extends HookDeps {
  database: Database;
  clock: Clock;
  sideThread: SideThread;
  /** Encrypts mail secrets, and derives the marks around untrusted text. */
  secretKey: Buffer;
  mail: MailDeps;
}

/** Settings and shared limits for fetching live mail threads. */
export interface MailDeps {
  /** Private hosts that mail servers may be on. */
  allowPrivateHosts: PrivateHosts;
  /** Time limit for all live fetching of one resolve call. */
  totalMs: number;
  /** Ends the fetching after a time. Default `AbortSignal.timeout`; injected in tests. */
  endAfter?: (totalMs: number) => AbortSignal;
  /** Shared by all resolve calls of the hub. */
  connections: ConnectionSlots;
}

/** For the whole hub: enough for several resolve calls, few enough for any mail server. */
const CONNECTIONS_MAX = 8;

export function createMailDeps(allowPrivateHosts: PrivateHosts): MailDeps {
  return {
    allowPrivateHosts,
    totalMs: FRESH_TOTAL_MS,
    connections: new ConnectionSlots(CONNECTIONS_MAX),
  };
}
