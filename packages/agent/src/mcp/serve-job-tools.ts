import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ApiError, UnreachableError } from '@signalbox/sdk';
import { JOB_SERVER_NAME } from '../executors/job-server.ts';
import { ResultFileError } from '../job/result-file.ts';
import type { JobContext } from './job-context.ts';
import { JobToolError } from './job-tool-error.ts';
import { toolsOf } from './tool-table.ts';

const instructions =
  'Tools of the job that you work on. Use ask_person for anything that only a person can decide.';

/** Clients with a time limit for silent tools restart it at each of these. */
const PROGRESS_INTERVAL_MS = 15_000;

/**
 * Serves the tools of a job over standard input and output, until the input ends or the signal
 * fires. Both eras of the protocol are served: clients of 2026-07-28, which begin with
 * `server/discover`, and earlier ones, which begin with `initialize`.
 */
export async function serveJobTools(
  context: JobContext,
  { version, signal }: { version: string; signal: AbortSignal },
): Promise<void> {
  const handle = serveStdio(() => createServer(context, version));
  const ended = Promise.withResolvers<void>();
  process.stdin.once('end', ended.resolve).once('close', ended.resolve);
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  await ended.promise;
  await handle.close();
}

function createServer(context: JobContext, version: string): McpServer {
  const server = new McpServer({ name: JOB_SERVER_NAME, version }, { instructions });
  for (const { name, description, input, isReading, run } of toolsOf(context)) {
    server.registerTool(
      name,
      {
        description,
        inputSchema: input,
        annotations: { readOnlyHint: isReading ?? false, openWorldHint: false },
        // Otherwise Claude Code hides the tools behind a search.
        _meta: { 'anthropic/alwaysLoad': true },
      },
      async (values, { mcpReq }) => {
        const progress = reportWaiting(mcpReq);
        try {
          return textResult(await run(context, values, mcpReq.signal));
        } catch (error) {
          return { ...textResult(explain(error)), isError: true };
        } finally {
          clearInterval(progress);
        }
      },
    );
  }
  return server;
}

type McpRequest = Parameters<Parameters<McpServer['registerTool']>[2]>[1]['mcpReq'];

function reportWaiting({ _meta, notify }: McpRequest): NodeJS.Timeout | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return setInterval(() => {
    progress += 1;
    const params = { progressToken, progress, message: 'waiting for a person' };
    // A client that has gone away needs no progress; its end ends this server.
    notify({ method: 'notifications/progress', params }).catch(() => {});
  }, PROGRESS_INTERVAL_MS);
}

function textResult(text: string) {
  return { content: [{ type: 'text' as const, text }] };
}

const endedCodes = new Set(['TOKEN_EXPIRED', 'TOKEN_REVOKED', 'LEASE_LOST', 'UNAUTHORIZED']);

/** The sentence that the model reads. Other errors are defects, and end the call as such. */
function explain(error: unknown): string {
  if (error instanceof JobToolError || error instanceof ResultFileError) return error.message;
  if (error instanceof UnreachableError) {
    return 'The hub cannot be reached now. Continue without this, or try again in a minute.';
  }
  if (!(error instanceof ApiError)) throw error;
  const isEnded = endedCodes.has(error.code) || error.code === 'CLAIM_GENERATION_MISMATCH';
  if (isEnded) return `This attempt of the job has ended (${error.code}). Stop working now.`;
  return `The hub refused: ${error.message} (${error.code})`;
}
