import { addHubOptions, addJsonOption, defineCommand, type HubOptions } from '../command-module.ts';
import { readLogins } from '../credentials.ts';
import { formatMoment } from '../duration.ts';
import { choosePlace, createHubClient, openHubSession } from '../hub-session.ts';
import { printFields } from '../table.ts';
import { oneLine } from '../text.ts';

/**
 * `signalbox whoami`: kind, principal, workspace, scopes and expiry of the token in use, as the hub
 * knows it. With `--json`: the hub's answer and `url`.
 */
export const command = defineCommand<HubOptions>({
  describe(program) {
    addJsonOption(program);
    addHubOptions(program);
  },

  async run({ io, options }) {
    const place = await choosePlace(io, options);
    // Without a token only a hub in development mode answers; the session says what is missing.
    if (place.token === undefined) await openHubSession(io, options);
    const client = createHubClient(place.baseUrl, place.token);
    const who = await client.tokens.whoami({}, { signal: io.signal });
    if (io.json) return io.printJson({ ...who, url: place.baseUrl });
    const others = (await readLogins(io.env)).filter(({ token }) => token !== place.token);
    printFields(io, [
      ['Name', io.styles.bold(oneLine(who.displayName))],
      ['Workspace', who.workspaceSlug ?? who.workspaceId ?? 'every one'],
      ['Hub', place.baseUrl],
      ['Token', `${who.kind}, ${place.login === null ? 'from SIGNALBOX_TOKEN' : 'from login'}`],
      ['May', who.scopes.join(', ')],
      ['Valid until', who.expiresAt === null ? null : formatMoment(who.expiresAt)],
      ...others.map(({ url, workspaceSlug }) => ['Also', `${workspaceSlug} at ${url}`] as const),
    ]);
  },
});
