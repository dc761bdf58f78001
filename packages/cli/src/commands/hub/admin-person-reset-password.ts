import { resetPasswordByAdmin } from '@signalbox/hub';
import { CliError } from '../../cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { formatMoment } from '../../terminal/duration.ts';
import { defineAdminCommand } from './admin-command.ts';
import { explainAddress } from './admin-link.ts';
import { linkSettings } from './admin-settings.ts';

interface Options {
  email: string;
  workspace?: string;
}

/**
 * `signalbox admin person reset-password`: prints a link with which a person sets a new password.
 * The hub may run or not. The link is shown once, works once and for 24 hours, and replaces the
 * previous one. With `--json`: `{ok, resetUrl, personId, email, name, expiresAt,
 * address: {baseUrl, source}}`.
 */
export const command = defineAdminCommand<Options>({
  describe(program) {
    program
      .requiredOption('--email <address>', 'e-mail address of the person who lost the password')
      .option('-w, --workspace <slug>', 'of the account, if the address has several');
  },

  settings: linkSettings,
  examples: [
    ['signalbox admin person reset-password --email ada@acme.dev', 'prints a link to send'],
  ],

  async run({ io, options, config }) {
    const { email, workspace } = options;
    const reset = await resetPasswordByAdmin(config, email, workspace);
    if (reset === null) throw unknownPerson(email);
    if (io.json) return io.printJson({ ok: true, ...reset });
    // Standard output has the link alone, so that it can be piped.
    io.print(reset.resetUrl);
    io.note(`Send it to ${reset.name} (${reset.email}). Everyone who has it can set the password.`);
    for (const line of explainAddress(reset.address)) io.note(line);
    io.note(`Works once, until ${formatMoment(reset.expiresAt)}. It is not shown again.`);
    io.note('The old password works until the link is used. A newer link replaces this one.');
  },
});

function unknownPerson(email: string): CliError {
  const message = `No person on this hub has the e-mail address ${email}.`;
  return new CliError(exitCodes.refused, 'PERSON_NOT_FOUND', message, {
    fix: `Invite the person: signalbox admin members invite -w SLUG --role member --email ${email}`,
  });
}
