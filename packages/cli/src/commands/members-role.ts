import { workspaceRoles } from '@signalbox/contract';
import { Argument } from 'commander';
import { readMembers, requireMember } from '../find/member-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';
import { addTokenChoice, noteTokens, type TokenChoice } from '../hub/member-tokens.ts';
import { oneLine } from '../terminal/text.ts';

/**
 * `signalbox members role PERSON ROLE`: changes a member's role. With `--json`: `{ok, member,
 * serviceTokens}`.
 */
export const command = defineHubCommand<TokenChoice>({
  describe(program) {
    program
      .argument('<person>', 'the e-mail address, name or ID of a member')
      .addArgument(new Argument('<role>', 'the new role').choices(workspaceRoles));
    addTokenChoice(program);
  },

  examples: [['signalbox members role grace@acme.dev admin', 'Grace may invite others']],

  async run({ io, args, options, session, client, workspaceId }) {
    const { personId } = requireMember(await readMembers(session), args[0] ?? '');
    // The argument's choices are the roles.
    const role = args[1] as (typeof workspaceRoles)[number];
    const { member, serviceTokens } = await client.members.changeRole({
      workspaceId,
      personId,
      role,
      revokeServiceTokens: options.keepTokens !== true,
    });
    if (io.json) return io.printJson({ ok: true, member, serviceTokens });
    const { green, bold } = io.styles;
    io.print(`${green('✔')} ${bold(oneLine(member.name))} has the role ${member.role}`);
    noteTokens(io, serviceTokens);
  },
});
