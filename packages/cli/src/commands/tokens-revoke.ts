import { findIdByEnding, type IdKind } from '../find/id-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { oneLine } from '../terminal/text.ts';
import { readTokens } from '../words/token-list.ts';

const tokenId: IdKind = {
  prefix: 'tok',
  name: 'token',
  code: 'TOKEN',
  fix: 'List tokens: signalbox tokens',
  fixAmbiguous: (id) => `Give more of the ID, such as: signalbox tokens revoke ${id}`,
};

/**
 * `signalbox tokens revoke ID`: revokes the token of a program, or logs a machine out. With
 * `--json`: `{ok, tokenId}`.
 */
export const command = defineHubCommand({
  describe(program) {
    program.argument('<id>', 'the ID of a token, or its end, as shown by signalbox tokens');
  },

  async run({ io, args, session, client, workspaceId }) {
    const { serviceTokens, deviceTokens } = await readTokens(session);
    const names = new Map([
      ...(serviceTokens ?? []).map((token) => [token.tokenId, token.name] as const),
      ...deviceTokens.map((token) => [token.tokenId, token.machineName] as const),
    ]);
    const id = await findIdByEnding(tokenId, args[0] ?? '', async () => [...names.keys()]);
    const isProgram = serviceTokens?.some((token) => token.tokenId === id) ?? false;
    const ref = { workspaceId, tokenId: id };
    if (isProgram) await client.serviceTokens.revoke(ref);
    else await client.deviceTokens.revoke(ref);
    if (io.json) return io.printJson({ ok: true, tokenId: id });
    const what = isProgram ? 'Revoked the token of' : 'Logged out the machine';
    io.print(`${io.styles.green('✔')} ${what} ${io.styles.bold(oneLine(names.get(id) ?? id))}`);
  },
});
