import type { PatchAbsence, PatchBeginning } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { type HubChoice, openHubSession } from '../hub/hub-session.ts';
import type { Io, Styles } from '../terminal/io.ts';
import { showControls } from '../terminal/text.ts';

const absences: Readonly<Record<PatchAbsence, string>> = {
  not_shared: 'and its agent shares no patch of it',
  deleted: 'and the patch that its agent shared has been deleted',
  unusable: 'and the patch that its agent shared cannot be shown',
};

/** The changes of a job whose branch is on another machine. */
export interface SharedPatch {
  jobId: string;
  patch: string;
  baseSha: string | null;
  commitSha: string | null;
  filesOmitted: number;
}

/**
 * Reads the patch of a job from the hub.
 * @throws {CliError} PATCH_MISSING: the hub has none; the errors of `findJobId`.
 */
export async function readSharedPatch(
  io: Io,
  choice: HubChoice,
  reference: string,
  since: PatchBeginning,
): Promise<SharedPatch> {
  const session = await openHubSession(io, choice);
  const { client, workspaceId } = session;
  const jobId = await findJobId(session, reference, io.signal);
  const answer = await client.jobs.patch({ workspaceId, jobId, since }, { signal: io.signal });
  const { patch, absence, baseSha, commitSha, filesOmitted } = answer;
  if (patch !== null) return { jobId, patch, baseSha, commitSha, filesOmitted };
  const message = `The branch of this job is not in this directory, ${absences[absence ?? 'not_shared']}.`;
  throw new CliError(exitCodes.usage, 'PATCH_MISSING', message, {
    fix: 'Run the command in the clone of its agent, or set share.changes: patch in agent.yaml',
  });
}

/** Colours a patch as git does. Characters that move the cursor are shown, and take no effect. */
export function colorPatch(styles: Styles, patch: string): string {
  const colorLine = (line: string) => {
    if (/^(diff|index|---|\+\+\+|new|deleted|old|similarity|rename) /.test(line)) {
      return styles.bold(line);
    }
    if (line.startsWith('@@')) return styles.cyan(line);
    if (line.startsWith('+')) return styles.green(line);
    return line.startsWith('-') ? styles.red(line) : line;
  };
  return patch
    .split('\n')
    .map((line) => colorLine(showControls(line)))
    .join('\n');
}
