import { addHubOptions, defineCommand, type HubOptions } from '../command-module.ts';
import { readLogins } from '../hub/credentials.ts';
import { choosePlace, createHubClient, openHubSession } from '../hub/hub-session.ts';
import { formatMoment } from '../terminal/duration.ts';
import { printFields } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox whoami`: shows kind, principal, workspace, scopes and expiry of the token in use,
 * according to the hub. With `--json`: the hub's answer and `url`.
 */
export const command = defineCommand<HubOptions>({
  chooseHub: addHubOptions,

  async run({ io, options }) {
    const place = await choosePlace(io, options);
    // Only a hub in development mode answers without a token; otherwise this throws NOT_LOGGED_IN.
    if (place.token === undefined) await openHubSession(io, options);
    const client = createHubClient(io, place.baseUrl, place.token);
    const who = await client.tokens.whoami();
    if (io.json) return io.printJson({ ...who, url: place.baseUrl });
    const others = (await readLogins(io.env)).filter(({ token }) => token !== place.token);
    printFields(io, [
      ['Name', io.styles.bold(oneLine(who.displayName))],
      ['Workspace', who.workspaceSlug ?? who.workspaceId ?? 'all'],
      ['Hub', place.baseUrl],
      ['Token', `${who.kind}, ${place.login === null ? 'from SIGNALBOX_TOKEN' : 'from login'}`],
      ['Scopes', who.scopes.join(', ')],
      ['Valid until', who.expiresAt === null ? null : formatMoment(who.expiresAt)],
      ...others.map(
        ({ url, workspaceSlug }) => ['Also logged in', `${workspaceSlug} at ${url}`] as const,
      ),
    ]);
  },
});
