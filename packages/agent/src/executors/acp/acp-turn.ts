import type { McpServer } from '@agentclientprotocol/sdk/unstable';
import type { OfferedModels } from '../asked-tool.ts';
import type { ConversationHost } from '../conversation.ts';
import type { PermissionPolicy } from '../permissions/permission-policy.ts';
import type { AcpAgent } from './acp-agents.ts';
import type { AcpReader } from './acp-messages.ts';
import type { SessionSettings } from './acp-session.ts';
import type { ShareApprovals } from './approval.ts';

/** The parts that stay the same while a tool is started, crashes and is started again. */
export interface AcpTurn {
  host: ConversationHost;
  agent: AcpAgent;
  reader: AcpReader;
  settings: SessionSettings;
  permissions: PermissionPolicy;
  shareApprovals: ShareApprovals;
  mcpServers: readonly McpServer[];
  /** The first prompt of a session. */
  promptText: string;
  /** The first prompt of a round that continues the session of an earlier one. */
  nextPromptText: string;
  /** Actions that a rule or the tool itself refused, for the evidence. */
  denied: string[];
  /** Actions that the tool took without asking, although no rule of the agent allows them. */
  unasked: string[];
  /** Sentences on what may answer the tool before the agent is asked. */
  warnings: readonly string[];
  /** Called with the models that a session offers, if it tells them. */
  onModels(models: OfferedModels): void;
  /** The tool's name and version by its own words; null until it has said them. */
  about: { name: string; version: string } | null;
}
