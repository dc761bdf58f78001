import * as acp from '@agentclientprotocol/sdk/unstable';
import { VERSION } from '@signalbox/contract/version';
import type { ToolProcess } from '../conversation.ts';
import type { AcpAgent } from './acp-agents.ts';

/** The calls that a tool makes to its client. Each is answered in its own time. */
export interface AcpHandlers {
  onUpdate(notification: acp.SessionNotification): void;
  onPermission(
    request: acp.RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<acp.RequestPermissionOutcome>;
  onForm(
    request: acp.CreateElicitationRequest,
    signal: AbortSignal,
  ): Promise<acp.CreateElicitationResponse>;
}

/** A connection to a running tool. */
export interface AcpConnection {
  readonly agent: acp.ClientContext;
  readonly about: acp.InitializeResponse;
  close(): void;
}

/** The tool speaks another protocol, or breaks this one. */
export class ToolProtocolError extends Error {
  override name = 'ToolProtocolError';
}

/** Whether an error says that the connection is lost. */
export function isClosed(error: unknown): boolean {
  return error instanceof Error && /connection closed/i.test(error.message);
}

/**
 * Asks a tool for failures of a turn as data. It would end the turn as done otherwise. A tool that
 * knows this extension leaves out the output of commands, unless it is asked for too.
 */
const failureExtension = {
  jetbrains: { air: { version: 1, capabilities: ['sessionFailure'] } },
  terminal_output_delta: true,
};
/** A message may hold a whole file. */
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
/** Adapters load a whole tool before they answer. */
const INITIALIZE_MS_MAX = 60_000;

/**
 * Connects to a tool that was just started.
 *
 * @throws {ToolProtocolError}
 */
export async function connectTool(
  tool: ToolProcess,
  handlers: AcpHandlers,
  { tellsFailures }: Pick<AcpAgent, 'tellsFailures'>,
): Promise<AcpConnection> {
  const { client } = acp.methods;
  const app = acp
    .client({ name: 'signalbox' })
    .onNotification(client.session.update, ({ params }) => handlers.onUpdate(params))
    .onRequest(client.session.requestPermission, async ({ params, signal }) => ({
      outcome: await handlers.onPermission(params, signal),
    }))
    .onRequest(client.elicitation.create, ({ params, signal }) => handlers.onForm(params, signal));
  const stream = acp.ndJsonStream(tool.input, tool.output, { maxMessageBytes: MESSAGE_BYTES_MAX });
  const connection = app.connect(stream);
  try {
    const about = await connection.agent.request(
      acp.methods.agent.initialize,
      {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientInfo: { name: 'signalbox', version: VERSION },
        // No `fs` and no `terminal`: the tool works on the files of its worktree by itself. A URL
        // must be asked for as such, or Codex turns it into a permission that looks harmless.
        clientCapabilities: {
          elicitation: { form: {}, url: {} },
          ...(tellsFailures ? { _meta: failureExtension } : {}),
        },
      },
      { cancellationSignal: AbortSignal.timeout(INITIALIZE_MS_MAX), stopWaitingOnCancel: true },
    );
    if (about.protocolVersion !== acp.PROTOCOL_VERSION) {
      throw new ToolProtocolError(
        `The tool speaks version ${about.protocolVersion} of the Agent Client Protocol; ` +
          `this agent speaks version ${acp.PROTOCOL_VERSION}.`,
      );
    }
    return { agent: connection.agent, about, close: () => connection.close() };
  } catch (error) {
    connection.close();
    throw error;
  }
}
