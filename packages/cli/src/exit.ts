import { ApiError, DeviceLoginError, UnreachableError } from '@signalbox/sdk';
import { CommanderError } from 'commander';
import { CliError } from './cli-error.ts';
import { type ExitCode, exitCodes, InterruptedError } from './exit-codes.ts';

/** An error as people and programs are told of it. */
export interface Failure {
  exitCode: ExitCode;
  code: string;
  message: string;
  /** What to do about it, a command as a rule; null when the message says it all. */
  fix: string | null;
  requestId: string | null;
  details: readonly { path: string; message: string }[];
}

const STATUS_UNAUTHORIZED = 401;
const STATUS_TOO_MANY_REQUESTS = 429;

/** The one map from error to exit code. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof ApiError) return describeApiError(error);
  const common = { requestId: null, details: [], message: messageOf(error), fix: null };
  if (error instanceof CliError) {
    const { exitCode, code, fix } = error;
    return { ...common, exitCode, code, fix };
  }
  if (error instanceof UnreachableError) {
    const fix = 'Start the hub with: signalbox serve. Name another one with --url.';
    return { ...common, exitCode: exitCodes.unreachable, code: 'HUB_UNREACHABLE', fix };
  }
  if (error instanceof DeviceLoginError) {
    const code = error.reason === 'denied' ? 'LOGIN_DENIED' : 'LOGIN_EXPIRED';
    return { ...common, exitCode: exitCodes.unauthorized, code };
  }
  if (error instanceof InterruptedError) {
    return { ...common, exitCode: error.exitCode, code: 'INTERRUPTED' };
  }
  if (error instanceof CommanderError) {
    const text = common.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
    const message = `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
    return { ...common, exitCode: exitCodes.usage, code: 'USAGE', message };
  }
  // A defect of this program: whoever mends it needs the stack.
  const stack = error instanceof Error ? error.stack : undefined;
  const message = stack ?? common.message;
  return { ...common, exitCode: exitCodes.failed, code: 'UNEXPECTED', message };
}

function describeApiError(error: ApiError): Failure {
  const { code, message, requestId, details } = error;
  return { exitCode: exitOf(error), code, message, requestId, details, fix: fixOf(error) };
}

function exitOf({ code, status }: ApiError): ExitCode {
  if (status === STATUS_UNAUTHORIZED) return exitCodes.unauthorized;
  if (status >= 500 || status === STATUS_TOO_MANY_REQUESTS) return exitCodes.unreachable;
  // What answered was no hub, so no hub has been reached.
  if (code === 'INVALID_RESPONSE' || code === 'REDIRECT_REFUSED') return exitCodes.unreachable;
  return exitCodes.refused;
}

const fixes: Readonly<Record<string, string>> = {
  TOKEN_MISSING: 'signalbox login --workspace SLUG',
  TOKEN_INVALID: 'signalbox login --workspace SLUG',
  TOKEN_EXPIRED: 'signalbox login --workspace SLUG',
  TOKEN_REVOKED: 'signalbox login --workspace SLUG',
  WORKSPACE_NOT_FOUND: 'Check --workspace, or log in to it: signalbox login --workspace SLUG',
  REPO_NOT_FOUND: 'See what there is: signalbox repo list. Add a clone: signalbox repo link PATH',
  JOB_NOT_FOUND: 'See what there is: signalbox jobs',
  NOT_ALLOWED: 'Ask an owner of the workspace for a role or a token that may do this.',
  IDEMPOTENCY_CONFLICT: 'Send the same job again, or choose another --key.',
  NOT_FOUND: 'Check --url, and that the hub is not older than this command.',
  INTERNAL: "The request id finds the cause in the hub's log.",
};

function fixOf({ code, retryAfterMs }: ApiError): string | null {
  if (retryAfterMs !== null) return `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
  return fixes[code] ?? null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
