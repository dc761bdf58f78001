import { untilAborted } from '../clock.ts';
import type { JobWork } from './job-work.ts';
import { ResultFileError } from './result-file.ts';
import { type AskedQuestion, readToolReport, type ToolReport } from './tool-report.ts';

/** How often the agent looks whether a running tool waits for a person for too long. */
const LOOK_MS = 100;

/** The question that the tool was told to end for, because no person has answered in time. */
export function parkedQuestion({ questions }: ToolReport): AskedQuestion | undefined {
  return questions.find(({ state }) => state === 'parked');
}

/** The words for people about a job that waits for the answer to a question of its tools. */
export function summaryOfPark({ prompt }: AskedQuestion): string {
  return `A person is asked: ${prompt}`;
}

/**
 * Waits until the tools of the job note that no person has answered in time. A model may continue
 * working although it was told to end its turn, so the agent ends it.
 *
 * @returns what the job waits for; null when the signal has fired.
 */
export async function untilParked(work: JobWork, signal: AbortSignal): Promise<string | null> {
  const { clock, toolUser } = work.settings;
  while (!signal.aborted) {
    try {
      const asked = parkedQuestion(await readToolReport(work.directory.reportFile, toolUser?.uid));
      if (asked !== undefined) return summaryOfPark(asked);
    } catch (error) {
      if (!(error instanceof ResultFileError)) throw error;
      // An invalid report fails the job at its end, with the reason.
      await untilAborted(signal);
      return null;
    }
    await clock.sleep(LOOK_MS, signal);
  }
  return null;
}
