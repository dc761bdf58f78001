import assert from 'node:assert/strict';
import {
  consoleEndpoints,
  consolePathOf,
  type Endpoint,
  type RequestOf,
  type ResponseOf,
} from '@signalbox/contract';
import type { TObject } from 'typebox';
import { insertMembership } from '../../src/access/store.ts';
import { issueFirstOwnerLink } from '../../src/people/create-first-owner.ts';
import type { HomeWorld } from './home-world.ts';
import { type Answer, exchange, requestOfRow } from './http-exchange.ts';

/** A person at the console, who sends the requests that a browser would. */
export interface ConsolePerson {
  personId: string;
  /** The workspace that they made as the first owner. */
  workspaceSlug: string;
  /** @param row of the path, if it may be a stream. */
  send(path: string, body: Record<string, unknown>, row?: Endpoint): Promise<Answer>;
  /** Calls an endpoint at the console and expects success. */
  call<Req extends TObject, Res extends TObject>(
    row: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
  ): Promise<ResponseOf<Endpoint<Req, Res>>>;
}

/** The first owner of a hub, signed in, and a member of `home` as well. */
export async function signInFirstOwner({ hub, home }: HomeWorld): Promise<ConsolePerson> {
  const { database } = hub;
  const linkToken = await issueFirstOwnerLink(database);
  assert.ok(linkToken !== null, 'the hub has no people yet');
  const workspaceSlug = 'lovelace';
  let cookie = '';
  const send: ConsolePerson['send'] = async (path, body, row) => {
    const headers = { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }) };
    const request = row ? requestOfRow(row, body, path) : { path, body };
    const answer = await exchange(hub.baseUrl, { ...request, headers });
    cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    return answer;
  };
  const { text, body } = await send(consoleEndpoints.firstOwner.create.path, {
    linkToken,
    email: 'ada@acme.dev',
    name: 'Ada Lovelace',
    password: 'violet harbour 9 lanterns',
    workspaceSlug,
    workspaceName: 'Lovelace',
  });
  assert.equal(body.ok, true, text);
  const { personId } = body.person as { personId: string };
  await database.write(null, (tx) =>
    insertMembership(tx, {
      workspace_id: home.workspaceId,
      person_id: personId,
      role: 'member',
      created_at: tx.nowMs,
    }),
  );
  return {
    personId,
    workspaceSlug,
    send,
    async call(row, call) {
      const answer = await send(consolePathOf(row), call);
      assert.equal(answer.body.ok, true, answer.text);
      return answer.body as ResponseOf<typeof row>;
    },
  };
}
