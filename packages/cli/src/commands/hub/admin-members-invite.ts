import { type WorkspaceRole, workspaceRoles } from '@signalbox/contract';
import { inviteMemberByAdmin } from '@signalbox/hub';
import { InvalidArgumentError } from 'commander';
import { formatMoment } from '../../terminal/duration.ts';
import { defineAdminCommand } from './admin-command.ts';
import { explainAddress } from './admin-link.ts';
import { linkSettings } from './admin-settings.ts';

interface Options {
  workspace: string;
  email: string;
  role: WorkspaceRole;
}

/**
 * `signalbox admin members invite`: prints an invitation link for a person, through direct access
 * to the database; the hub may be running or stopped. The link is shown only once. With `--json`:
 * `{ok, invitationUrl, invitationId, workspaceId, workspaceSlug, email, role, expiresAt, address:
 * {baseUrl, source}}`.
 */
export const command = defineAdminCommand<Options>({
  describe(program) {
    program
      .requiredOption('-w, --workspace <slug>', 'the workspace to invite to')
      .requiredOption('--email <address>', 'address of the invited person')
      .requiredOption('--role <role>', workspaceRoles.join(', '), readRole);
  },

  settings: linkSettings,
  examples: [
    [
      'signalbox admin members invite -w acme --email ada@acme.dev --role owner',
      'prints a link to send',
    ],
  ],

  async run({ io, options, config }) {
    const { workspace, email, role } = options;
    const invited = await inviteMemberByAdmin(config, {
      workspaceSlug: workspace,
      email,
      role,
    });
    if (io.json) return io.printJson({ ok: true, ...invited });
    // Only the link goes to standard output, so that it can be piped.
    io.print(invited.invitationUrl);
    io.note(
      `Send it to ${invited.email}. It works once and grants the role ${role} in ${workspace}.`,
    );
    for (const line of explainAddress(invited.address)) io.note(line);
    io.note(`Valid until ${formatMoment(invited.expiresAt)}. It is not shown again.`);
  },
});

function readRole(text: string): WorkspaceRole {
  const role = workspaceRoles.find((known) => known === text);
  if (role === undefined) {
    throw new InvalidArgumentError(
      `It must be one of ${workspaceRoles.join(', ')}, not "${text}".`,
    );
  }
  return role;
}
