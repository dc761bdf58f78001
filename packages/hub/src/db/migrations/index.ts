import type { EngineName } from '../engine.ts';
import { foundation } from './0001-foundation.ts';
import { runsAndUncertainties } from './0002-runs-uncertainties.ts';
import { cloudAiJobs } from './0003-cloud-ai-jobs.ts';
import { context } from './0004-context.ts';
import { uploads } from './0005-uploads.ts';
import { integrationsTriggers } from './0006-integrations-triggers.ts';
import { membersInvitations } from './0007-members-invitations.ts';
import { scale } from './0008-scale.ts';
import { hubs } from './0009-hubs.ts';
import { jobTokens } from './0010-job-tokens.ts';
import { passwordResets } from './0011-password-resets.ts';
import { tenants } from './0012-tenants.ts';
import { keyPrincipals } from './0013-key-principals.ts';
import { accounts } from './0014-accounts.ts';
import { idleLanes } from './0016-idle-lanes.ts';
import { toolLog } from './0017-tool-log.ts';
import { uploadUsage } from './0018-upload-usage.ts';
import { jobTrees } from './0019-job-trees.ts';
import { addressBlocks } from './0020-address-blocks.ts';
import { hubNames } from './0021-hub-names.ts';
import { jobTitles } from './0023-job-titles.ts';
import { agentCommands } from './0024-agent-commands.ts';
import { jobLogs } from './0025-job-logs.ts';
import { queuePauses } from './0026-queue-pauses.ts';
import { actionQuestions } from './0027-action-questions.ts';
import { decisionInbox } from './0028-decision-inbox.ts';
import { longReferences } from './0030-long-references.ts';
import { jobVerdicts } from './0032-job-verdicts.ts';
import { narrowRows } from './0034-narrow-rows.ts';
import { logNumbers } from './0035-log-numbers.ts';
import { jobActivities } from './0036-job-activities.ts';
import { jobKeys } from './0037-job-keys.ts';
import { leaseExpiry } from './0038-lease-expiry.ts';
import { entryEpochs } from './0039-entry-epochs.ts';

export interface Migration {
  /** Increases, with gaps; a database with a version unknown here is of a newer Signalbox. */
  version: number;
  name: string;
  statements: (engine: EngineName) => string[];
}

/** In order. A migration that was released is never changed. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'foundation', statements: foundation },
  { version: 2, name: 'runs-uncertainties', statements: runsAndUncertainties },
  { version: 3, name: 'cloud-ai-jobs', statements: cloudAiJobs },
  { version: 4, name: 'context', statements: context },
  { version: 5, name: 'uploads', statements: uploads },
  { version: 6, name: 'integrations-triggers', statements: integrationsTriggers },
  { version: 7, name: 'members-invitations', statements: membersInvitations },
  { version: 8, name: 'scale', statements: scale },
  { version: 9, name: 'hubs', statements: hubs },
  { version: 10, name: 'job-tokens', statements: jobTokens },
  { version: 11, name: 'password-resets', statements: passwordResets },
  { version: 12, name: 'tenants', statements: tenants },
  { version: 13, name: 'key-principals', statements: keyPrincipals },
  { version: 14, name: 'accounts', statements: accounts },
  { version: 16, name: 'idle-lanes', statements: idleLanes },
  { version: 17, name: 'tool-log', statements: toolLog },
  { version: 18, name: 'upload-usage', statements: uploadUsage },
  { version: 19, name: 'job-trees', statements: jobTrees },
  { version: 20, name: 'address-blocks', statements: addressBlocks },
  { version: 21, name: 'hub-names', statements: hubNames },
  { version: 23, name: 'job-titles', statements: jobTitles },
  { version: 24, name: 'agent-commands', statements: agentCommands },
  { version: 25, name: 'job-logs', statements: jobLogs },
  { version: 26, name: 'queue-pauses', statements: queuePauses },
  { version: 27, name: 'action-questions', statements: actionQuestions },
  { version: 28, name: 'decision-inbox', statements: decisionInbox },
  { version: 30, name: 'long-references', statements: longReferences },
  { version: 32, name: 'job-verdicts', statements: jobVerdicts },
  { version: 34, name: 'narrow-rows', statements: narrowRows },
  { version: 35, name: 'log-numbers', statements: logNumbers },
  { version: 36, name: 'job-activities', statements: jobActivities },
  { version: 37, name: 'job-keys', statements: jobKeys },
  { version: 38, name: 'lease-expiry', statements: leaseExpiry },
  { version: 39, name: 'entry-epochs', statements: entryEpochs },
];
