import { workspaceRoles } from '@signalbox/contract';
import { Option } from 'commander';
import { defineHubCommand } from '../hub/hub-command.ts';
import { oneLine } from '../terminal/text.ts';

type Options = { role: (typeof workspaceRoles)[number] };

/**
 * `signalbox members invite EMAIL`: prints the invitation link, only this once; the hub sends no
 * mail. With `--json`: `{ok, invitation, invitationUrl}`.
 */
export const command = defineHubCommand<Options>({
  describe(program) {
    program
      .argument('<email>', 'the address of the person')
      .addOption(
        new Option('--role <role>', 'their role').choices(workspaceRoles).default('member'),
      );
  },

  examples: [['signalbox members invite grace@acme.dev --role admin', 'an admin']],

  async run({ io, args, options, client, workspaceId }) {
    const email = args[0] ?? '';
    const { invitation, invitationUrl } = await client.invitations.create({
      workspaceId,
      email,
      role: options.role,
    });
    if (io.json) return io.printJson({ ok: true, invitation, invitationUrl });
    io.note(`Send this link to ${oneLine(invitation.email)}. It works once, for 7 days.`);
    io.print(invitationUrl);
  },
});
