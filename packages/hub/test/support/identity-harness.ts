import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  consoleEndpoints,
  createIdSource,
  type Endpoint,
  endpoints,
  type RequestOf,
  type ResponseOf,
} from '@signalbox/contract';
import type { TObject } from 'typebox';
import { bindAgentRoutes } from '../../src/agents/routes.ts';
import { hooks } from '../../src/app.ts';
import { bindAuditRoutes } from '../../src/audit/routes.ts';
import { bindMailAccountRoutes } from '../../src/context/mail/mail-routes.ts';
import type { Role } from '../../src/db/schema/tables.ts';
import { bindDeviceRoutes } from '../../src/devices/routes.ts';
import { createGatekeeper } from '../../src/gatekeeper.ts';
import { Api } from '../../src/http/bind.ts';
import { createServer } from '../../src/http/server.ts';
import { serveConsole } from '../../src/http/static-console.ts';
import { bindIntegrationRoutes } from '../../src/integrations/routes.ts';
import { bindJobRoutes } from '../../src/jobs/routes.ts';
import { bindMemberRoutes } from '../../src/members/routes.ts';
import { issueFirstOwnerLink } from '../../src/people/create-first-owner.ts';
import { FailureDelay } from '../../src/people/failure-delay.ts';
import { createPasswordHasher, type PasswordHasher } from '../../src/people/passwords.ts';
import { bindPeopleRoutes } from '../../src/people/routes.ts';
import { insertMembership, insertPerson } from '../../src/people/store.ts';
import { ClaimWaiters } from '../../src/queue/claim-waiters.ts';
import { Queue } from '../../src/queue/queue.ts';
import { bindRepositoryRoutes } from '../../src/repositories/routes.ts';
import { TokenCache } from '../../src/tokens/cache.ts';
import { bindTokenRoutes } from '../../src/tokens/routes.ts';
import { bindTriggerRoutes } from '../../src/triggers/routes.ts';
import { bindWorkspaceRoutes } from '../../src/workspaces/routes.ts';
import { checkAnswer } from './harness.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { makeTempDir } from './temp-dir.ts';
import { openDatabaseOf } from './test-engine.ts';

export const PASSWORD = 'violet harbour 9 lanterns';

export interface IdentityOptions {
  clock?: ManualClock;
  /** Of another hub, to share its database. */
  dataDir?: string;
  /** Where people reach it; the address it listens on when absent. */
  baseUrl?: string;
  globalToken?: string;
  globalTokenAllowed?: boolean;
  unauthenticatedAllowed?: boolean;
  passwords?: PasswordHasher;
  consoleDir?: string;
}

export type IdentityHub = Awaited<ReturnType<typeof startHub>>;

/** The rooms about who is who on a real port and a real file, with a clock turned by hand. */
export async function startHub(t: TestContext, options: IdentityOptions = {}) {
  const clock = options.clock ?? createManualClock();
  const dataDir = options.dataDir ?? makeTempDir(t);
  const { database, end } = await openDatabaseOf(dataDir, clock);
  const ids = createIdSource(clock.nowMs);
  const waiters = new ClaimWaiters(clock);
  const queue = new Queue((entry, agentId) => waiters.wakeFor(entry, agentId));
  const secure = options.baseUrl?.startsWith('https:') ?? false;
  const server = createServer({ ids, secure, logger: { level: 'silent' } });
  const deps = {
    database,
    clock,
    ids,
    queue,
    waiters,
    hooks,
    secretKey: Buffer.alloc(32, 7),
    baseUrl: options.baseUrl ?? '',
    log: server.log,
    tokenCache: new TokenCache({ database, clock }),
    passwords: options.passwords ?? createPasswordHasher(),
    failureDelay: new FailureDelay(clock),
    globalToken: options.globalToken ?? null,
    globalTokenAllowed: options.globalTokenAllowed ?? false,
    unauthenticatedAllowed: options.unauthenticatedAllowed ?? false,
    integrationSecrets: [],
    chatSecrets: [],
  };
  const gatekeeper = createGatekeeper(deps);
  const api = new Api(server, gatekeeper, checkAnswer);
  bindWorkspaceRoutes(api, { ...deps, gatekeeper });
  bindTokenRoutes(api, deps);
  bindPeopleRoutes(api, deps);
  bindMemberRoutes(api, deps);
  bindDeviceRoutes(api, deps);
  bindAuditRoutes(api, deps);
  bindMailAccountRoutes(api, deps);
  bindAgentRoutes(api, deps);
  bindRepositoryRoutes(api, deps);
  bindJobRoutes(api, deps);
  bindTriggerRoutes(api, deps);
  bindIntegrationRoutes(api, deps);
  api.finish();
  serveConsole(server, options.consoleDir ?? join(dataDir, 'no-console'));
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  deps.baseUrl ||= address;
  t.after(async () => {
    waiters.close();
    await server.close();
    await end();
  });
  return { address, dataDir, database, clock, deps, visitor: () => new Visitor(address) };
}

/** What came back, whatever it was. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** A browser with a cookie jar, or a program with a token. */
export class Visitor {
  readonly #address: string;
  readonly cookies = new Map<string, string>();
  token: string | null = null;

  constructor(address: string) {
    this.#address = address;
  }

  withToken(token: string | null): this {
    this.token = token;
    return this;
  }

  async send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await this.post(path, body, headers);
    const answered = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body: answered };
  }

  /** Sends a body as JSON, a string as it is. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#address + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        ...(path.startsWith('/console-api/') ? { 'sec-fetch-site': 'same-origin' } : {}),
        ...(cookie === '' ? {} : { cookie }),
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Calls an endpoint and expects success. */
  async call<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
  ): Promise<ResponseOf<Endpoint<Req, Res>>> {
    const { status, body: answer } = await this.send(endpoint.path, body);
    assert.equal(status, 200, `${endpoint.name}: ${JSON.stringify(answer)}`);
    return answer as ResponseOf<Endpoint<Req, Res>>;
  }

  /** Calls an endpoint and says how it went: `ok`, or the code of the refusal. */
  async codeOf<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
  ): Promise<string> {
    const { body: answer } = await this.send(endpoint.path, body);
    return answer.ok === true ? 'ok' : String(answer.error);
  }
}

export const ownerDraft = {
  email: 'ada@acme.dev',
  name: 'Ada Lovelace',
  password: PASSWORD,
  workspaceSlug: 'acme',
  workspaceName: 'Acme',
};

/** The first owner, signed in, made through the link as a person would. */
export async function makeOwner(hub: IdentityHub) {
  const linkToken = await issueFirstOwnerLink(hub.database);
  assert.ok(linkToken !== null, 'the hub has no people yet');
  const browser = hub.visitor();
  const state = await browser.call(consoleEndpoints.firstOwner.create, {
    linkToken,
    ...ownerDraft,
  });
  const [workspace] = state.workspaces;
  assert.ok(state.person && workspace);
  return { browser, personId: state.person.personId, workspaceId: workspace.workspaceId };
}

/** Another person with the same password; a role of null: in no workspace. */
export async function addPerson(
  hub: IdentityHub,
  workspaceId: string,
  name: string,
  role: Role | null,
): Promise<{ personId: string; email: string }> {
  const { database, deps } = hub;
  const personId = deps.ids('person');
  const email = `${name}@acme.dev`;
  const passwordHash = await deps.passwords.hash(PASSWORD);
  await database.write(null, async (tx) => {
    const created_at = tx.nowMs;
    await insertPerson(database, tx, {
      person_id: personId,
      email,
      name,
      password_hash: passwordHash,
      created_at,
    });
    if (role === null) return;
    await insertMembership(database, tx, {
      workspace_id: workspaceId,
      person_id: personId,
      role,
      created_at,
    });
  });
  return { personId, email };
}

export async function signInAs(hub: IdentityHub, email: string): Promise<Visitor> {
  const browser = hub.visitor();
  await browser.call(consoleEndpoints.session.signIn, { email, password: PASSWORD });
  return browser;
}

/** A machine of the signed-in person, logged in through the device flow. */
export async function logDeviceIn(
  hub: IdentityHub,
  browser: Visitor,
  { workspaceSlug = 'acme', machineName = 'build-7' } = {},
): Promise<string> {
  const terminal = hub.visitor();
  const started = await terminal.call(endpoints.devices.start, { workspaceSlug, machineName });
  const { deviceId, deviceSecret, userCode } = started;
  await browser.call(consoleEndpoints.deviceApprovals.open, { deviceId });
  await browser.call(consoleEndpoints.deviceApprovals.answer, {
    deviceId,
    decision: 'approve',
    userCode,
  });
  const { token } = await terminal.call(endpoints.devices.poll, { deviceId, deviceSecret });
  assert.ok(token !== undefined);
  return token;
}

/** The audit log of a workspace, as action and actor. */
export async function listAudit(hub: IdentityHub, workspaceId: string) {
  return hub.database.reader.allSql<{ action: string; actor: string; data: string }>(
    'SELECT action, actor, data FROM audit_entries WHERE workspace_id = ? ORDER BY seq',
    [workspaceId],
  );
}
