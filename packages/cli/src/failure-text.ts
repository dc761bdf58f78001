import type { Failure } from './exit.ts';
import type { Styles } from './io.ts';
import { cleanText } from './text.ts';

export interface FailureManner {
  isJson: boolean;
  styles: Styles;
  /** The words of the command that failed; empty when none was recognized. */
  command: string;
}

/** Their sentences say all that their codes would. */
const selfEvident = new Set(['USAGE', 'INTERRUPTED']);

/** Tells of a failure on standard error: what is wrong, its code, what to do, where to look. */
export function printFailure(failure: Failure, manner: FailureManner): void {
  const help = `signalbox ${manner.command === '' ? '' : `${manner.command} `}--help`;
  const fix = failure.fix ?? (failure.code === 'USAGE' ? `See: ${help}` : null);
  const told = { ...failure, fix };
  const text = manner.isJson ? failureJson(told) : failureText(told, manner.styles);
  process.stderr.write(`${text}\n`);
}

/** In the shape of the hub's own failures. */
function failureJson(failure: Failure): string {
  const { code, message, fix, requestId, details, exitCode } = failure;
  return JSON.stringify({
    ok: false,
    error: code,
    message,
    ...(fix === null ? {} : { fix }),
    requestId,
    ...(details.length === 0 ? {} : { details }),
    exitCode,
  });
}

function failureText(failure: Failure, { red, dim }: Styles): string {
  const fields = [
    ...failure.details.map(({ path, message }) => ['Field', `${path || '/'} ${message}`]),
    ['Fix', failure.fix],
    ['Code', selfEvident.has(failure.code) ? null : failure.code],
    ['Request', failure.requestId],
  ].filter((field): field is [string, string] => typeof field[1] === 'string');
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return [
    `${red('✖')} ${cleanText(failure.message)}`,
    ...fields.map(([name, value]) => `  ${dim(name.padEnd(width))}  ${cleanText(value)}`),
  ].join('\n');
}
