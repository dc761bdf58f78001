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
} from './admin.ts';
export { createHub, type Hub } from './app.ts';
export { BackupError } from './backup/backup-error.ts';
export type { EpochReport } from './backup/begin-epoch.ts';
export { findBuiltConsole } from './built-console.ts';
export type { LinkAddress } from './cluster/hub-address.ts';
export {
  type Config,
  FILE_SUFFIX,
  isLoopback,
  readConfig,
  type Setting,
  type SettingName,
  settings,
} from './config.ts';
export { StartError } from './db/data-directory.ts';
export { type Migration, migrations } from './db/migrations/index.ts';
export type { Finding } from './diagnosis/finding.ts';
export { HubError } from './errors.ts';
export { describeFlags, type StartOptions, startFromEnvironment } from './main.ts';
export { acceptRestore, backUpHub, diagnoseHub, restoreHub, verifyHub } from './operate.ts';
export { SettingError } from './setting-values.ts';
