import { ApiError, DeviceLoginError, UnreachableError } from '@signalbox/sdk';
import { CommanderError } from 'commander';
import { CliError } from '../cli-error.ts';
import { type ExitCode, exitCodes, InterruptedError } from '../exit-codes.ts';

/** An error in the form that is shown to people and programs. */
export interface Failure {
  exitCode: ExitCode;
  code: string;
  message: string;
  /** The next step, usually a command to run; null when the message is sufficient. */
  fix: string | null;
  requestId: string | null;
  details: readonly { path: string; message: string }[];
}

const STATUS_UNAUTHORIZED = 401;
const STATUS_TOO_MANY_REQUESTS = 429;

/** Maps every error to its exit code and message. This is the only such map. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof ApiError) return describeApiError(error);
  const common = { requestId: null, details: [], message: messageOf(error), fix: null };
  if (error instanceof CliError) {
    const { exitCode, code, fix } = error;
    return { ...common, exitCode, code, fix };
  }
  if (error instanceof UnreachableError) {
    const fix = 'Start the hub with: signalbox serve. Select another hub with --url.';
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
  // A defect of this program: print the stack, which is needed to fix it.
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
  // The answer did not come from a hub, so no hub was reached.
  if (code === 'INVALID_RESPONSE' || code === 'REDIRECT_REFUSED') return exitCodes.unreachable;
  return exitCodes.refused;
}

const fixes: Readonly<Record<string, string>> = {
  TOKEN_MISSING: 'signalbox login --workspace SLUG',
  TOKEN_INVALID: 'signalbox login --workspace SLUG',
  TOKEN_EXPIRED: 'signalbox login --workspace SLUG',
  TOKEN_REVOKED: 'signalbox login --workspace SLUG',
  WORKSPACE_NOT_FOUND: 'Check --workspace, or log in to it: signalbox login --workspace SLUG',
  REPO_NOT_FOUND: 'List repositories: signalbox repo list. Add a clone: signalbox repo link PATH',
  JOB_NOT_FOUND: 'List jobs: signalbox jobs',
  UNCERTAINTY_NOT_FOUND: 'List open questions: signalbox inbox',
  ALREADY_RESOLVED: 'To replace that answer: signalbox answer ID --replace',
  LOGIN_TOO_OLD: 'signalbox login --workspace SLUG, then repeat the command within an hour.',
  NOT_ALLOWED: 'Ask an owner of the workspace for a role or token with this permission.',
  IDEMPOTENCY_CONFLICT: 'Send the same job again, or choose another --key.',
  NOT_FOUND: 'Check --url and the version of the hub: it may be older than this command.',
  INTERNAL: "Search the hub's log for the request ID to find the cause.",
};

function fixOf({ code, retryAfterMs }: ApiError): string | null {
  if (retryAfterMs !== null) return `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
  return fixes[code] ?? null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
