import type { ConformanceRow } from './row.ts';
import { capabilityRows } from './rows-capabilities.ts';
import { cloudAiJobRows, cloudAiServiceRows } from './rows-cloud-ai-jobs.ts';
import { contextEndpointRows, contextResourceRows, contextServiceRows } from './rows-context.ts';
import {
  decisionEndpointRows,
  decisionResourceRows,
  decisionServiceRows,
  decisionStateRows,
  decisionVersionRows,
} from './rows-decisions.ts';
import { reportRows } from './rows-extensions.ts';
import { generalRows } from './rows-general.ts';
import { authenticationRows, identityRows } from './rows-identity.ts';
import {
  integrationAuthenticationRows,
  integrationEndpointRows,
  integrationEventRows,
  integrationServiceRows,
  integrationVersionRows,
} from './rows-integrations.ts';
import { eventRows, jobRows } from './rows-jobs.ts';
import { errorRows, limitRows, versionRows } from './rows-limits.ts';
import { agentLoopRows, serviceRows } from './rows-overview.ts';
import { recordRows } from './rows-records.ts';
import { resourceRows } from './rows-resources.ts';
import { stateRows } from './rows-states.ts';
import { uploadEndpointRows, uploadResourceRows, uploadServiceRows } from './rows-uploads.ts';

/** The statements that this hub is held to: the specification's in its order, then others. */
export const conformanceRows: readonly ConformanceRow[] = [
  ...serviceRows,
  ...capabilityRows,
  ...agentLoopRows,
  ...decisionServiceRows,
  ...cloudAiServiceRows,
  ...contextServiceRows,
  ...uploadServiceRows,
  ...integrationServiceRows,
  ...resourceRows,
  ...recordRows,
  ...decisionResourceRows,
  ...contextResourceRows,
  ...uploadResourceRows,
  ...stateRows,
  ...decisionStateRows,
  ...generalRows,
  ...identityRows,
  ...jobRows,
  ...decisionEndpointRows,
  ...cloudAiJobRows,
  ...contextEndpointRows,
  ...uploadEndpointRows,
  ...integrationEndpointRows,
  ...authenticationRows,
  ...integrationAuthenticationRows,
  ...eventRows,
  ...integrationEventRows,
  ...errorRows,
  ...limitRows,
  ...versionRows,
  ...decisionVersionRows,
  ...integrationVersionRows,
  ...reportRows,
];
