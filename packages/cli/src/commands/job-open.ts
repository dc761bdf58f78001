import { findJobIds } from '../find/job-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { requireWorkspaceSlug } from '../hub/hub-session.ts';
import { addJobIds } from '../hub/job-changes.ts';
import { openBrowser } from '../terminal/browser.ts';

/**
 * `signalbox job open ID…`: opens the pages of jobs in the console, and prints their addresses.
 * With `--json`: `{ok, pages}`, each `{jobId, url}`; no browser opens.
 */
export const command = defineHubCommand({
  describe(program) {
    addJobIds(program);
  },

  examples: [['signalbox job open 8f3a1c2d', 'in your browser']],

  async run({ io, args, session }) {
    const slug = await requireWorkspaceSlug(session);
    const jobIds = await findJobIds(session, args);
    const pages = jobIds.map((jobId) => ({
      jobId,
      url: `${session.baseUrl}/w/${encodeURIComponent(slug)}/jobs/${jobId}`,
    }));
    if (io.json) return io.printJson({ ok: true, pages });
    for (const { url } of pages) {
      openBrowser(io, url);
      io.print(url);
    }
  },
});
