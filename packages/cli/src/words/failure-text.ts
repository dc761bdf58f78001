import { asTyped } from '../command-name.ts';
import type { Failure } from '../terminal/exit.ts';
import { note, noteJson, type Styles } from '../terminal/io.ts';
import { cleanText, oneLine } from '../terminal/text.ts';

export interface FailureFormat {
  isJson: boolean;
  styles: Styles;
  /** The words of the failed command; empty if none was recognized. */
  command: string;
}

/** Codes that add nothing to the message. */
const selfEvident = new Set(['USAGE', 'INTERRUPTED']);

/** Prints a failure to standard error: the problem, what to do, the error code and request ID. */
export function printFailure(failure: Failure, format: FailureFormat): void {
  const help = `signalbox ${format.command === '' ? '' : `${format.command} `}--help`;
  const fix = failure.fix ?? (failure.code === 'USAGE' ? `See: ${help}` : null);
  const complete = { ...failure, fix: fix === null ? null : asTyped(fix) };
  if (format.isJson) noteJson(failureJson(complete));
  else for (const line of failureLines(complete, format.styles)) note(line);
}

/** The same shape as the hub's own failures. */
function failureJson(failure: Failure): object {
  const { code, message, fix, requestId, details, exitCode } = failure;
  return {
    ok: false,
    error: code,
    message,
    ...(fix === null ? {} : { fix }),
    requestId,
    ...(details.length === 0 ? {} : { details }),
    exitCode,
  };
}

function failureLines(failure: Failure, { red, dim }: Styles): string[] {
  const fields = [
    ...failure.details.map(({ path, message }) => ['Field', `${path || '/'} ${message}`]),
    ['Fix', failure.fix],
    ['Code', selfEvident.has(failure.code) ? null : failure.code],
    ['Request', failure.requestId],
  ].filter((field): field is [string, string] => typeof field[1] === 'string');
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  // A message may be a list. The rest of one that is not does not begin like a line of this
  // program.
  const [first, ...more] = cleanText(failure.message).split('\n');
  return [
    `${red('✖')} ${first}`,
    ...more.map((line) => (line.startsWith(' ') ? line : `  ${line}`)),
    ...fields.map(([name, value]) => `  ${dim(name.padEnd(width))}  ${oneLine(value)}`),
  ];
}
