import { hostname } from 'node:os';
import { runDeviceLogin } from '@signalbox/sdk';
import { addHubOptions, defineCommand } from '../command-module.ts';
import { saveLogin } from '../hub/credentials.ts';
import { choosePlace, createHubClient, type HubChoice } from '../hub/hub-session.ts';
import { openBrowser } from '../terminal/browser.ts';
import { formatDuration } from '../terminal/duration.ts';
import type { Io } from '../terminal/io.ts';
import { askText } from '../terminal/prompts.ts';
import { clearLine, withSpinner } from '../terminal/spinner.ts';
import { oneLine } from '../terminal/text.ts';

interface Options extends HubChoice {
  browser: boolean;
  name?: string;
}

/**
 * `signalbox login`: the device login. Shows a code and a URL, waits for a person's approval in the
 * browser, and stores the token with access for this user only. The token is never printed. With
 * `--json`: a line `{event: "code", userCode, approvalUrl, expiresAt}`, then a line `{event:
 * "approved", url, workspaceId, workspaceSlug}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .option('--no-browser', 'print the URL without opening a browser')
      .option('--name <text>', "this machine's name on the approval page (default: the host name)");
  },

  json: 'print JSON lines: the code, then the login',
  chooseHub: addHubOptions,
  examples: [
    ['signalbox login --workspace acme', 'at the hub on this machine'],
    ['signalbox login -w acme --url https://signalbox.acme.dev', 'at another hub'],
  ],

  async run({ io, options }) {
    const place = await choosePlace(io, options);
    const { baseUrl } = place;
    const workspaceSlug =
      place.workspaceSlug ??
      (await askText(io, {
        message: 'Which workspace?',
        placeholder: 'acme',
        missing: 'The workspace is missing. Add --workspace SLUG.',
      }));
    const client = createHubClient(io, baseUrl, undefined);
    const approved = await withSpinner(io, 'Waiting for your approval …', () =>
      runDeviceLogin({
        client,
        workspaceSlug,
        machineName: options.name ?? hostname(),
        signal: io.signal,
        onCode: (shown) => showCode(io, shown, options.browser),
      }),
    );
    const { token, workspaceId } = approved;
    const loggedInAt = new Date().toISOString();
    const slug = approved.workspaceSlug;
    await saveLogin(io.env, { url: baseUrl, workspaceSlug: slug, workspaceId, token, loggedInAt });
    if (io.json) {
      io.printJson({ event: 'approved', url: baseUrl, workspaceId, workspaceSlug: slug });
      return;
    }
    const { green, bold } = io.styles;
    io.print(`${green('✔')} Logged in to ${bold(oneLine(slug))} at ${baseUrl}`);
    if (io.env.SIGNALBOX_TOKEN) {
      io.note('SIGNALBOX_TOKEN is set and takes precedence over this login until you unset it.');
    }
  },
});

function showCode(
  io: Io,
  shown: { userCode: string; approvalUrl: string; expiresAt: string },
  mayOpen: boolean,
): void {
  if (io.json) {
    io.printJson({ event: 'code', ...shown });
    return;
  }
  const { bold, dim, cyan } = io.styles;
  const opened = mayOpen && openBrowser(io, shown.approvalUrl);
  const left = formatDuration(Date.parse(shown.expiresAt) - Date.now());
  // The spinner has already written to standard error, which is the same terminal.
  if (io.stderr.isTTY) io.draw([clearLine], 'stderr');
  io.print();
  io.print(`  Your code   ${bold(cyan(shown.userCode))}`);
  io.print();
  io.print(
    opened
      ? '  Enter it in the page that your browser opens. If none opens, open:'
      : '  Open this page and enter the code:',
  );
  io.print(`  ${shown.approvalUrl}`);
  io.print();
  io.print(dim(`  Approve only if you started this login yourself. The code expires in ${left}.`));
  io.print();
}
