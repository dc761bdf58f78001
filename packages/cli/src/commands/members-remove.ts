import {
  findMember,
  readInvitations,
  readMembers,
  requireMember,
} from '../find/member-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { addTokenChoice, noteTokens, type TokenChoice } from '../hub/member-tokens.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox members remove PERSON`: removes a member, or revokes the open invitation of an
 * address. With `--json`: `{ok, personId, serviceTokens}` or `{ok, invitationId}`.
 */
export const command = defineHubCommand<TokenChoice>({
  describe(program) {
    program.argument('<person>', 'the e-mail address, name or ID of a member; an invited address');
    addTokenChoice(program);
  },

  async run({ io, args, options, session, client, workspaceId }) {
    const text = args[0] ?? '';
    const { green, bold } = io.styles;
    const members = await readMembers(session);
    if (findMember(members, text) === null) {
      const invitations = (await readInvitations(session)) ?? [];
      const invited = invitations.find(({ email }) => email === text.toLowerCase());
      if (invited !== undefined) {
        const { invitationId, email } = invited;
        await client.invitations.revoke({ workspaceId, invitationId });
        if (io.json) return io.printJson({ ok: true, invitationId });
        io.print(`${green('✔')} The invitation of ${bold(oneLine(email))} is revoked`);
        return undefined;
      }
    }
    const { personId, name } = requireMember(members, text);
    const { serviceTokens } = await client.members.remove({
      workspaceId,
      personId,
      revokeServiceTokens: options.keepTokens !== true,
    });
    if (io.json) return io.printJson({ ok: true, personId, serviceTokens });
    io.print(`${green('✔')} Removed ${bold(oneLine(name))}; their machines are logged out`);
    noteTokens(io, serviceTokens);
  },
});
