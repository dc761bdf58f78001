import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { consoleEndpoints, type Endpoint, listErrorCodes, statusOf } from '@signalbox/contract';
import type { Role } from '../../src/db/schema/tables.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { CANARY } from './api-world.ts';
import type { ManualClock } from './manual-clock.ts';
import { addPerson, logDeviceIn, makeOwner, signInAs } from './people.ts';
import { startTestHub, type TestHub, type TestHubOptions } from './test-hub.ts';
import type { Visitor } from './visitor.ts';

const { members, invitations, serviceTokens, account } = consoleEndpoints;

/** Those at the console: by role in `acme`, signed in but of another workspace, or not at all. */
export const callers = ['owner', 'admin', 'member', 'viewer', 'stranger', 'visitor'] as const;
export type Caller = (typeof callers)[number];

export interface ConsoleWorld {
  hub: TestHub;
  workspaceId: string;
  browsers: Record<Caller, Visitor>;
  personIds: Record<Exclude<Caller, 'visitor'>, string>;
  /** A workspace of the stranger, full of canaries. */
  other: {
    workspaceId: string;
    personId: string;
    invitationId: string;
    serviceTokenId: string;
    deviceTokenId: string;
  };
  /** Another member, who signs in when asked to. */
  addMember(role: Role): Promise<{ personId: string; email: string }>;
  /** The token of the only invitation link for an address. */
  invite(email: string, role?: Role): Promise<{ invitationId: string; linkToken: string }>;
}

/** Starts a hub with a person of each role, and a stranger's workspace full of canaries. */
export async function startConsoleWorld(
  t: TestContext,
  options: TestHubOptions<ManualClock> = {},
): Promise<ConsoleWorld> {
  const hub = await startTestHub(t, options);
  const { browser: owner, personId, workspaceId } = await makeOwner(hub);
  const addMember = memberMaker(hub, workspaceId);
  const enter = async (role: Role) => {
    const person = await addMember(role);
    return { ...person, browser: await signInAs(hub, person.email) };
  };
  const [admin, member, viewer] = [
    await enter('admin'),
    await enter('member'),
    await enter('viewer'),
  ];
  const { stranger, other } = await plantCanaries(hub);
  return {
    hub,
    workspaceId,
    browsers: {
      owner,
      admin: admin.browser,
      member: member.browser,
      viewer: viewer.browser,
      stranger,
      visitor: hub.visitor(),
    },
    personIds: {
      owner: personId,
      admin: admin.personId,
      member: member.personId,
      viewer: viewer.personId,
      stranger: other.personId,
    },
    other,
    addMember,
    async invite(email, role = 'member') {
      const made = await owner.call(invitations.create, { workspaceId, email, role });
      return {
        invitationId: made.invitation.invitationId,
        linkToken: linkTokenOf(made.invitationUrl),
      };
    },
  };
}

export function linkTokenOf(invitationUrl: string): string {
  const [, linkToken] = invitationUrl.split('#token=');
  assert.ok(linkToken !== undefined, invitationUrl);
  return linkToken;
}

function memberMaker(hub: TestHub, workspaceId: string): ConsoleWorld['addMember'] {
  let count = 0;
  return (role) => addPerson(hub, workspaceId, `${role}-${++count}`, role);
}

/** A workspace in which every text that people write holds the canary. */
async function plantCanaries(hub: TestHub) {
  const { workspace_id: workspaceId } = await hub.database.write(null, (tx) =>
    createWorkspace(hub.deps, tx, { slug: CANARY, name: CANARY }),
  );
  const { personId, email } = await addPerson(hub, workspaceId, CANARY, 'owner');
  const stranger = await signInAs(hub, email);
  const { invitation } = await stranger.call(invitations.create, {
    workspaceId,
    email: `${CANARY}-guest@acme.dev`,
    role: 'admin',
  });
  const { serviceToken } = await stranger.call(serviceTokens.mint, { workspaceId, name: CANARY });
  const place = { workspaceSlug: CANARY, machineName: CANARY };
  await logDeviceIn(hub, stranger, place);
  const { tokens } = await stranger.call(consoleEndpoints.deviceTokens.list, { workspaceId });
  await stranger.call(account.update, { name: `${CANARY} person` });
  await stranger.call(members.list, { workspaceId });
  return {
    stranger,
    other: {
      workspaceId,
      personId,
      invitationId: invitation.invitationId,
      serviceTokenId: serviceToken.tokenId,
      deviceTokenId: tokens[0]?.tokenId ?? '',
    },
  };
}

/** One request at the console and what is to be said of its answer. */
export interface ConsoleScenario {
  /** A sentence in the present tense. */
  name: string;
  endpoint: Endpoint;
  as: Caller;
  body: unknown;
  /** Success when absent. */
  error?: Parameters<typeof statusOf>[0];
  /** Fields that the answer contains. */
  holds?: Record<string, unknown>;
}

/** Runs a scenario, and checks what holds for every answer at the console. */
export async function runConsoleScenario(
  { browsers }: ConsoleWorld,
  { endpoint, as, body, error, holds }: ConsoleScenario,
): Promise<void> {
  const answer = await browsers[as].send(endpoint.path, body);
  const text = JSON.stringify(answer.body);
  assert.equal(answer.body.error, error, text);
  assert.equal(answer.status, error === undefined ? 200 : statusOf(error), text);
  assert.ok(as === 'stranger' || !text.includes(CANARY), `the canary got out: ${text}`);
  assert.doesNotMatch(text, /sqlite|constraint failed|node_modules|quick:|password_hash|_hash"/i);
  if (error !== undefined) {
    assert.match(String(answer.body.message), /\.$/, 'the message is a sentence');
    assert.ok(listErrorCodes(endpoint).includes(error), `${error} is documented`);
  }
  if (holds !== undefined) assert.partialDeepStrictEqual(answer.body, holds, text);
}
