import type { TObject } from 'typebox';
import type { Endpoint } from '../endpoint.ts';
import { invitations as consoleInvitations } from './console/invitations.ts';
import { members as consoleMembers } from './console/members.ts';
import {
  deviceTokens as consoleDeviceTokens,
  serviceTokens as consoleServiceTokens,
} from './console/tokens.ts';

/** How long after its login a machine may change members and tokens. */
export const ADMINISTRATION_MS = 60 * 60 * 1000;

/**
 * A row of the console that people may also call from a machine of theirs, with its device token.
 * The hub checks the person's role, as at the console.
 */
function fromMachines<Req extends TObject, Res extends TObject>(
  row: Endpoint<Req, Res>,
): Endpoint<Req, Res, false> {
  const name = row.name.replace(/^console/, '');
  return {
    ...row,
    name: `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`,
    path: row.path.replace('/console-api/', '/control-plane/'),
    tag: 'Administration',
    auth: 'bearer',
    console: false,
    description:
      `${row.description} The token must be that of a person's machine: programs may not make ` +
      'this call.',
    errors: [...row.errors, 'NOT_ALLOWED'],
  };
}

/** A row that gives access, takes it away or shows a secret: it needs a recent login. */
function afterLogin<Req extends TObject, Res extends TObject>(
  row: Endpoint<Req, Res>,
): Endpoint<Req, Res, false> {
  const machines = fromMachines(row);
  return {
    ...machines,
    description: `${machines.description} The machine must have logged in within the last hour.`,
    errors: [...machines.errors, 'LOGIN_TOO_OLD'],
  };
}

export const members = {
  list: fromMachines(consoleMembers.list),
  changeRole: afterLogin(consoleMembers.changeRole),
  remove: afterLogin(consoleMembers.remove),
} as const;

export const invitations = {
  create: afterLogin(consoleInvitations.create),
  list: fromMachines(consoleInvitations.list),
  revoke: afterLogin(consoleInvitations.revoke),
} as const;

export const serviceTokens = {
  list: fromMachines(consoleServiceTokens.list),
  mint: afterLogin(consoleServiceTokens.mint),
  revoke: afterLogin(consoleServiceTokens.revoke),
} as const;

export const deviceTokens = {
  list: fromMachines(consoleDeviceTokens.list),
  revoke: afterLogin(consoleDeviceTokens.revoke),
} as const;
