import { type ExitCode, exitCodes, InterruptedError } from '../exit-codes.ts';
import { knownWords, runLine, wantsJson } from '../program.ts';
import { printFailure } from '../words/failure-text.ts';
import { describeFailure } from './exit.ts';
import { stylesOf, wantsColor } from './io.ts';

const argv = process.argv.slice(2);
const words = knownWords(argv).join(' ');
/** Long-running commands, which handle signals themselves. */
const endsItself = ['serve', 'up', 'agent start'].includes(words);

endOnClosedOutput();
const stopping = new AbortController();
if (!endsItself) abortOnSignal();

process.exitCode = await run();

async function run(): Promise<ExitCode> {
  try {
    return await runLine(argv, stopping.signal);
  } catch (error) {
    if (isHelpOrVersion(error)) return exitCodes.ok;
    const failure = describeFailure(error);
    const styles = stylesOf(wantsColor(process.env, process.stderr));
    printFailure(failure, { isJson: wantsJson(argv), styles, command: words });
    return failure.exitCode;
  }
}

function isHelpOrVersion(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'commander.helpDisplayed' || code === 'commander.version';
}

/** The first signal lets the command clean up; a second one exits immediately. */
function abortOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      const interrupted = new InterruptedError(signal);
      stopping.abort(interrupted);
      process.once(signal, () => process.exit(interrupted.exitCode));
    });
  }
}

/**
 * Exits when the reader closes the pipe (`signalbox jobs | head`). Agents and hubs keep running.
 */
function endOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (!endsItself) process.exit(exitCodes.outputClosed);
    });
  }
}
