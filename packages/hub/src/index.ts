export { BackupError } from './backup/backup-error.ts';
export type { EpochReport } from './backup/begin-epoch.ts';
export { HubError } from './base/errors.ts';
export type { LinkAddress } from './cluster/hub-address.ts';
export { StartError } from './db/data-directory.ts';
export { type Migration, migrations } from './db/migrations/index.ts';
export type { Finding } from './diagnosis/finding.ts';
export {
  type AdminChatTeam,
  type AdminInvitation,
  type AdminPasswordReset,
  type AdminToken,
  addChatTeamByAdmin,
  createWorkspaceByAdmin,
  inviteMemberByAdmin,
  mintTokenByAdmin,
  resetPasswordByAdmin,
} from './start/admin.ts';
export { createHub, type Hub } from './start/app.ts';
export { findBuiltConsole } from './start/built-console.ts';
export {
  type Config,
  FILE_SUFFIX,
  readConfig,
  type Setting,
  type SettingName,
  settings,
} from './start/config.ts';
export { HubMissingError } from './start/hub-place.ts';
export {
  findRunningHub,
  type LocalAccess,
  type LocalAccessDraft,
  openLocalAccess,
} from './start/local-access.ts';
export {
  describeFlags,
  readFlags,
  type StartOptions,
  startFromEnvironment,
  startHub,
} from './start/main.ts';
export { acceptRestore, backUpHub, diagnoseHub, restoreHub, verifyHub } from './start/operate.ts';
export { isLoopback, SettingError } from './start/setting-values.ts';
