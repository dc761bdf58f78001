import { type WorkspaceRole, workspaceRoles } from '@signalbox/contract';
import { inviteMemberByAdmin } from '@signalbox/hub';
import { InvalidArgumentError } from 'commander';
import { addExamples, addJsonOption, defineCommand } from '../../command-module.ts';
import { formatMoment } from '../../duration.ts';
import { explainAddress } from './admin-link.ts';
import { addSettings, explainHubError, linkSettings, readHubConfig } from './admin-settings.ts';

interface Options {
  workspace: string;
  email: string;
  role: WorkspaceRole;
}

/**
 * `signalbox admin member add`: prints an invitation link for a person, beside a running or a
 * stopped hub. The link is shown this once. With `--json`: `{ok, invitationUrl, invitationId,
 * workspaceId, workspaceSlug, email, role, expiresAt, address: {baseUrl, source}}`.
 */
export const command = defineCommand<Options>({
  describe(program) {
    program
      .requiredOption('-w, --workspace <slug>', 'the workspace to invite to')
      .requiredOption('--email <address>', 'whom the link is for')
      .requiredOption('--role <role>', workspaceRoles.join(', '), readRole);
    addJsonOption(program);
    addSettings(program.optionsGroup('Which hub:'), linkSettings);
    addExamples(program, [
      [
        'signalbox admin member add -w acme --email ada@acme.dev --role owner',
        'prints a link to send',
      ],
    ]);
  },

  async run({ io, options }) {
    const config = readHubConfig(io.env, { ...options });
    const { workspace, email, role } = options;
    try {
      const invited = await inviteMemberByAdmin(config, {
        workspaceSlug: workspace,
        email,
        role,
      });
      if (io.json) return io.printJson({ ok: true, ...invited });
      // The link alone on standard output, so that it can be piped on.
      io.print(invited.invitationUrl);
      io.note(
        `Send it to ${invited.email}: it works once, and lets in to ${workspace} as ${role}.`,
      );
      for (const line of explainAddress(invited.address)) io.note(line);
      io.note(`Valid until ${formatMoment(invited.expiresAt)}. It is not shown again.`);
    } catch (error) {
      throw explainHubError(error);
    }
  },
});

function readRole(text: string): WorkspaceRole {
  const role = workspaceRoles.find((known) => known === text);
  if (role === undefined) {
    throw new InvalidArgumentError(`"${text}" is none of ${workspaceRoles.join(', ')}.`);
  }
  return role;
}
