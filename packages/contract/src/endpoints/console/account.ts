import Type from 'typebox';
import { Defaulted, Integer, Ok, Text } from '../../schema.ts';
import { defineConsoleEndpoint, NewPassword, PASSWORD_CHARS_MAX, PersonName } from './fields.ts';
import { examplePerson, Person } from './session.ts';

export const account = {
  update: defineConsoleEndpoint({
    name: 'consoleAccountUpdate',
    path: '/console-api/v1/account/update',
    repeat: 'once',
    summary: "Change a person's own name",
    description: 'The new name applies everywhere at once.',
    request: Type.Object({ name: PersonName }),
    response: Ok({ person: Person }),
    example: {
      request: { name: examplePerson.name },
      response: { ok: true, person: examplePerson },
    },
  }),
  changePassword: defineConsoleEndpoint({
    name: 'consoleAccountChangePassword',
    path: '/console-api/v1/account/change-password',
    repeat: 'once',
    summary: "Change a person's own password",
    description:
      'Requires the current password; a wrong one is SIGN_IN_FAILED. All other console sessions ' +
      'of the person end. All their machines are logged out, in all workspaces, unless ' +
      'logOutMachines is false: somebody who knew the old password may have approved one. A ' +
      'common password is INVALID_REQUEST with path /newPassword.',
    request: Type.Object({
      password: Text(PASSWORD_CHARS_MAX, { minLength: 1 }),
      newPassword: NewPassword,
      logOutMachines: Defaulted(Type.Boolean(), true),
    }),
    response: Ok({
      sessionsEnded: Integer(0, 1_000_000),
      machinesLoggedOut: Integer(
        0,
        1_000_000,
        'Device tokens that were revoked: one for each machine and workspace.',
      ),
    }),
    errors: ['SIGN_IN_FAILED'],
    example: {
      request: {
        password: 'correct horse battery staple',
        newPassword: 'nine lanterns over violet harbour',
      },
      response: { ok: true, sessionsEnded: 2, machinesLoggedOut: 1 },
    },
  }),
} as const;
