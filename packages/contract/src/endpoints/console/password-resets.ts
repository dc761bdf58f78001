import Type from 'typebox';
import { Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { defineConsoleEndpoint, NewPassword } from './fields.ts';
import { examplePerson, exampleSessionState, SessionState } from './session.ts';

/** How long a password-reset link can be used. */
export const PASSWORD_RESET_MS = 24 * 60 * 60 * 1000;

/** Whether a password-reset link can be used, and if not, why. */
export const passwordResetStatuses = ['open', 'used', 'replaced', 'expired', 'unknown'] as const;
export type PasswordResetStatus = (typeof passwordResetStatuses)[number];

const LinkToken = Text(200, {
  minLength: 1,
  description: 'The token in the fragment of the link.',
});
const exampleLinkToken = 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA';

/** The operator creates the links, with `signalbox admin person reset-password`. */
export const passwordResets = {
  check: defineConsoleEndpoint({
    name: 'consolePasswordResetCheck',
    path: '/console-api/v1/password-resets/check',
    auth: 'none',
    repeat: 'safe',
    summary: 'Say whether a password-reset link can still be used',
    description:
      'Does not use the link up. reset is null unless the status is open. The token travels in ' +
      'the body, so that no log contains it.',
    request: Type.Object({ linkToken: LinkToken }),
    response: Ok({
      status: OneOf(passwordResetStatuses, {
        description:
          'open; used: a password was set with it; replaced: there is a newer link, or the ' +
          'password was changed since; expired: older than 24 hours; unknown: no such link.',
      }),
      reset: Nullable(Type.Object({ email: Text(320), expiresAt: Timestamp() })),
    }),
    example: {
      request: { linkToken: exampleLinkToken },
      response: {
        ok: true,
        status: 'open',
        reset: { email: examplePerson.email, expiresAt: '2026-11-03T09:00:00.000Z' },
      },
    },
  }),
  setPassword: defineConsoleEndpoint({
    name: 'consolePasswordResetSetPassword',
    path: '/console-api/v1/password-resets/set-password',
    auth: 'none',
    repeat: 'once',
    summary: 'Set a new password with a password-reset link',
    description:
      'Uses the link up and signs in (sets the session cookie). The same transaction ends all ' +
      'other console sessions of the person, and revokes their device tokens, the service tokens ' +
      'that they created and the open invitations that they created. This hub refuses revoked ' +
      'tokens at once, others within 1 s. A common password is INVALID_REQUEST with path ' +
      '/newPassword.',
    request: Type.Object({ linkToken: LinkToken, newPassword: NewPassword }),
    response: SessionState,
    errors: ['PASSWORD_RESET_LINK_INVALID'],
    example: {
      request: {
        linkToken: exampleLinkToken,
        newPassword: 'nine lanterns over violet harbour',
      },
      response: exampleSessionState,
    },
  }),
} as const;
