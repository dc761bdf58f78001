import type { ExitCode } from './exit-codes.ts';

/** A command failed for an expected reason. The message is the complete explanation. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  /** Upper snake case, like the hub's error codes. */
  readonly code: string;
  /** The next step, usually a command to run. */
  readonly fix: string | null;

  constructor(
    exitCode: ExitCode,
    code: string,
    message: string,
    options: { fix?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.exitCode = exitCode;
    this.code = code;
    this.fix = options.fix ?? null;
  }
}
