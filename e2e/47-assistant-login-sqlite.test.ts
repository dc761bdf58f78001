import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';

const owner = ownerOf('oauth');
const { hub, browser } = usePagePlace({ after });

type KeptClient = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>;
type KeptTokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>;

/** The login that the official client keeps, and the page that it wants to be opened. */
class Login implements OAuthClientProvider {
  readonly redirectUrl: string;
  authorizationUrl: URL | null = null;
  #client: KeptClient | undefined;
  #tokens: KeptTokens | undefined;
  #verifier = '';

  constructor(redirectUrl: string) {
    this.redirectUrl = redirectUrl;
  }
  get clientMetadata() {
    return { client_name: 'Official client', redirect_uris: [this.redirectUrl] };
  }
  state() {
    // Numbers and signs come back as they were sent.
    return '007 &+=é';
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: KeptClient) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: KeptTokens) {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  invalidateCredentials() {
    this.#tokens = undefined;
  }
}

describe('an assistant logs in by OAuth, in a browser', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;
  let login: Login;
  let transport: StreamableHTTPClientTransport;
  const callback = createServer((_request, response) => response.end('Done.'));

  before(async () => {
    await makeWorkspace(owner);
    callback.listen(0, '127.0.0.1');
    await once(callback, 'listening');
    const { port } = callback.address() as AddressInfo;
    login = new Login(`http://127.0.0.1:${port}/callback`);
    visit = await openVisit(browser, hub.baseUrl);
    page = await visit.context.newPage();
  });
  after(() => callback.close());

  const newTransport = () =>
    new StreamableHTTPClientTransport(new URL('/mcp', hub.baseUrl), { authProvider: login });
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    return client;
  };
  /** Answers the page, and reads what the client's own address gets. */
  const answer = async (button: 'Allow' | 'Refuse') => {
    await page.getByRole('button', { name: button }).click();
    await page.waitForURL((url) => url.href.startsWith(login.redirectUrl));
    return new URL(page.url()).searchParams;
  };

  it('leads a person who is not signed in to sign in, and back to the request', async () => {
    transport = newTransport();
    await assert.rejects(connect(), UnauthorizedError);
    assert.ok(login.authorizationUrl !== null);
    await page.goto(login.authorizationUrl.href);
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Connect this assistant?' }).waitFor();
  });

  it('shows who asks, and has ticked nothing but reading', async () => {
    const text = await page.getByRole('main').innerText();
    assert.match(text, /unknown: it registered itself/);
    assert.match(text, /“Official client”/);
    assert.match(text, /a program on this device/);
    const ticked = page.getByRole('checkbox', { checked: true });
    assert.deepEqual(await ticked.count(), 1);
    assert.ok(await page.getByRole('checkbox', { name: /^Read/ }).isChecked());
    assert.equal(await page.getByRole('checkbox').count(), 3);
  });

  it('tells the client that the person refused', async () => {
    const given = await answer('Refuse');
    assert.equal(given.get('error'), 'access_denied');
    assert.equal(given.get('state'), login.state());
    assert.equal(given.has('code'), false);
  });

  it('gives the client the right that the person ticked', async () => {
    await page.goto(login.authorizationUrl?.href ?? '');
    const given = await answer('Allow');
    assert.equal(given.get('state'), login.state());
    assert.equal(given.get('iss'), hub.baseUrl);
    await transport.finishAuth(given);
    transport = newTransport();
    const client = await connect();
    const { content } = await client.callTool({ name: 'list_jobs', arguments: {} });
    assert.match(JSON.stringify(content), /job/i);
    assert.equal(login.tokens()?.scope, 'read');
    await client.close();
  });

  it('asks for more when a tool needs more', async () => {
    transport = newTransport();
    const client = await connect();
    const cancel = { name: 'cancel_job', arguments: { jobId: 'job_unknown' } };
    await assert.rejects(client.callTool(cancel), UnauthorizedError);
    assert.equal(login.authorizationUrl?.searchParams.get('scope'), 'read enqueue');
    await page.goto(login.authorizationUrl?.href ?? '');
    await page.getByRole('checkbox', { name: /^Start and cancel jobs/ }).check();
    await transport.finishAuth(await answer('Allow'));
    const again = await client.callTool(cancel);
    assert.match(JSON.stringify(again.content), /JOB_NOT_FOUND/);
    await client.close();
  });

  it('is listed among the machines, and refused once it is disconnected', async () => {
    await page.goto(`${hub.baseUrl}/w/${owner.workspaceSlug}/settings/machines`);
    const rows = page.getByRole('listitem').filter({ hasText: 'Official client' });
    await rows.first().waitFor();
    for (let left = await rows.count(); left > 0; left -= 1) {
      await rows
        .first()
        .getByRole('button', { name: /^Disconnect/ })
        .click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click();
      await rows.nth(left - 1).waitFor({ state: 'detached' });
    }
    transport = newTransport();
    await assert.rejects(connect(), UnauthorizedError);
    // The browser goes to no other place than the client's own address.
    const others = visit.troubles.filter((trouble) => !trouble.includes(login.redirectUrl));
    assert.deepEqual(others, []);
  });
});
