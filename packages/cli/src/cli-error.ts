import type { ExitCode } from './exit-codes.ts';

/** A command cannot do what it was asked; the message is the whole explanation, a sentence. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  /** Upper snake case, as the hub's. */
  readonly code: string;
  /** What to do, a command as a rule. */
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
