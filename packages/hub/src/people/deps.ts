import type { HubDeps } from '../start/hub-deps.ts';
import type { WorkspaceCreation } from '../start/setting-values.ts';
import type { FailedSignIns } from './failed-sign-ins.ts';
import type { FailureDelay } from './failure-delay.ts';
import type { PasswordHasher } from './passwords.ts';

export interface SessionDeps extends Pick<HubDeps, 'database' | 'clock'> {
  /** The address at which people reach this hub. */
  baseUrl: string;
  /** Logs failures of background work that must not fail the request. */
  log: { error(context: object, message: string): void };
}

export interface PeopleDeps extends SessionDeps, Pick<HubDeps, 'ids' | 'secretKey'> {
  passwords: PasswordHasher;
  workspaceCreation: WorkspaceCreation;
  /** The position of now in the changes of a workspace. */
  changePosition: (workspaceId: string) => string;
  failureDelay: FailureDelay;
  failedSignIns: FailedSignIns;
}
