import { engines } from '../test/engines.ts';
import { durationKey, engineOf } from './choose-tests.ts';
import { shareOut } from './share-out.ts';
import { runTestFiles } from './test-process.ts';

/** Of one file without a fault, on a busy machine. */
const limitMs = 120_000;

interface Measuring {
  /** Hears how long a file takes that passes. */
  hearPass(key: string, durationMs: number): void;
  say(text: string): void;
}

/**
 * Measures the test files that have no duration yet, without a fault. A file that fails now would
 * find every fault; it gets no duration.
 *
 * @param tests The test files of each source file.
 * @returns the files that fail, each with the reason.
 */
export async function measureTests(
  copies: readonly string[],
  tests: ReadonlyMap<string, readonly string[]>,
  durationsMs: Readonly<Record<string, number>>,
  { hearPass, say }: Measuring,
): Promise<string[]> {
  const failing: string[] = [];
  for (const engine of engines) {
    const sources = [...tests].filter(([source]) => engineOf(source) === engine);
    const unknown = [...new Set(sources.flatMap(([, all]) => all))].filter(
      (test) => !(durationKey(test, engine) in durationsMs),
    );
    if (unknown.length > 0) say(`${unknown.length} test files on ${engine}, without a fault.`);
    const parts = copies.map((_, part) =>
      unknown.filter((_test, at) => at % copies.length === part),
    );
    await shareOut(copies, parts, async (copy, part) => {
      let rest = part;
      while (rest.length > 0) {
        const failure = await runTestFiles(copy, engine, rest, {
          limitMsOf: () => limitMs,
          hearPass: (test, durationMs) => hearPass(durationKey(test, engine), durationMs),
        });
        if (failure === undefined) return;
        failing.push(`${failure.file}: ${failure.description}`);
        rest = rest.slice(rest.indexOf(failure.file) + 1);
      }
    });
  }
  return failing;
}
