import type { ChangesPlace, PatchAbsence, PatchBeginning } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { asTyped } from '../command-name.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJobId } from '../find/job-reference.ts';
import { type HubChoice, openHubSession } from '../hub/hub-session.ts';
import type { Io, Styles } from '../terminal/io.ts';
import { showControls } from '../terminal/text.ts';
import { requestText, waitText } from '../words/changes-text.ts';
import { shortId } from '../words/job-text.ts';

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
  const jobId = await findJobId(session, reference);
  const answer = await client.jobs.patch({ workspaceId, jobId, since });
  const { patch, absence, baseSha, commitSha, filesOmitted } = answer;
  if (patch !== null) return { jobId, patch, baseSha, commitSha, filesOmitted };
  const { changesPlace } = await client.jobs.get({ workspaceId, jobId });
  const asked = changesPlace && requestText(changesPlace);
  const why = `The branch of this job is not in this directory, ${absences[absence ?? 'not_shared']}.`;
  throw new CliError(exitCodes.usage, 'PATCH_MISSING', asked ? `${why} ${asked}.` : why, {
    fix: fixOf(jobId, changesPlace),
  });
}

function fixOf(jobId: string, place: ChangesPlace | undefined): string {
  const here = 'Run the command in the clone of its agent';
  if (place?.onRequest) {
    const isWaiting = place.request?.answeredAt === null;
    const way = `ask for it: signalbox job diff ${shortId(jobId)} --request`;
    return isWaiting ? `${here}, or wait for it` : `${here}, or ${way}`;
  }
  return `${here}, or set share.changes: on-request in agent.yaml`;
}

/**
 * Asks the agent of a job for its patch.
 * @throws {CliError} the errors of `findJobId` and of the hub, which says why it cannot be asked.
 */
export async function requestSharedPatch(
  io: Io,
  choice: HubChoice,
  reference: string,
): Promise<undefined> {
  const session = await openHubSession(io, choice);
  const { client, workspaceId } = session;
  const jobId = await findJobId(session, reference);
  const { place } = await client.jobs.requestPatch({ workspaceId, jobId });
  if (io.json) return io.printJson({ ok: true, jobId, place });
  io.print(`${io.styles.green('✔')} Asked for the changes: it ${waitText(place)}.`);
  io.print(io.styles.dim(asTyped(`  signalbox job diff ${shortId(jobId)}`)));
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
