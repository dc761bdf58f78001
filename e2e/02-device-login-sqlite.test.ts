import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { createMachine, type ShownLogin, startLogin } from './cli-process.ts';
import { makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession, type SignedIn, signIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('login');
const { hub, browser } = usePagePlace({ after });

describe('a device login, approved in a browser', { skip: browserMissing }, () => {
  let person: SignedIn;
  let visit: Visit;
  let page: Page;
  let shown: ShownLogin;

  before(async () => {
    person = await makeWorkspace(owner);
    visit = await openVisit(browser, hub.baseUrl);
    page = await visit.context.newPage();
  });
  const folder = makeTempDir({ after });
  const machine = createMachine(folder);
  const credentialsFile = join(folder, 'config/credentials.json');

  const beginLogin = () => startLogin(machine, hub.baseUrl, owner.workspaceSlug, 'build-7');

  /** A code of the right form that is not the one shown. */
  function wrongCodeFor(userCode: string): string {
    return userCode.replace(/^./, (letter) => (letter === 'B' ? 'C' : 'B'));
  }

  it('leads a person who is not signed in to sign in, and back to the request', async () => {
    shown = await beginLogin();
    await page.goto(shown.approvalUrl);
    await page.getByText('you can answer the login request of your machine').waitFor();
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Log in this machine?' }).waitFor();
    assert.equal(page.url(), shown.approvalUrl);
  });

  it('shows the machine, the workspace and the address of the request, but not the code', async () => {
    const text = await page.getByRole('main').innerText();
    for (const part of [owner.workspaceName, owner.workspaceSlug, 'build-7', '127.0.0.1']) {
      assert.ok(text.includes(part), `${part} is shown`);
    }
    assert.ok(!text.includes(shown.userCode), 'the code is to be compared, not shown');
  });

  it('refuses a code that is too short, and one that is wrong', async () => {
    const code = page.getByLabel('Code shown in your terminal');
    const approve = page.getByRole('button', { name: 'Approve' });
    await code.fill(shown.userCode.slice(0, 4));
    await approve.click();
    await page.getByText('The code must have eight letters.').waitFor();
    await code.fill(wrongCodeFor(shown.userCode));
    await page.getByText('The code must have eight letters.').waitFor({ state: 'hidden' });
    await approve.click();
    await page.locator('input[name=user-code][aria-invalid=true]').waitFor();
    assert.equal(shown.login.child.exitCode, null, 'the command still waits');
  });

  it('lets no other session of the same person answer the request', async () => {
    const elsewhere = await openVisit(browser, hub.baseUrl);
    await lendSession(elsewhere.context, await signIn(hub.baseUrl, owner));
    const other = await elsewhere.context.newPage();
    await other.goto(shown.approvalUrl);
    await other
      .getByRole('heading', { name: 'The request was opened in another session' })
      .waitFor();
    assert.equal(await other.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.deepEqual(elsewhere.troubles, []);
    await elsewhere.context.close();
  });

  it('approves with the right code, however it is typed', async () => {
    const typed = shown.userCode.replace('-', ' ').toLowerCase();
    await page.getByLabel('Code shown in your terminal').fill(typed);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'The machine is logged in' }).waitFor();
  });

  it('leaves the command logged in, its token kept for this user alone and never printed', async () => {
    assert.deepEqual(await shown.login.ended, { code: 0, signal: null });
    const { token, workspaceId } = readLogin();
    assert.equal(workspaceId, person.workspaceId);
    assert.match(token, /^sbx_d_/);
    assert.equal(statSync(credentialsFile).mode & 0o777, 0o600);
    assert.ok(!`${shown.login.stdout}${shown.login.stderr}`.includes(token));
  });

  it('reports the logged-in person afterwards', async () => {
    const end = await machine.run(['whoami']);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, new RegExp(`${owner.name} on build-7`));
    assert.match(end.stdout, new RegExp(`Workspace +${owner.workspaceSlug}\n`));
  });

  it('says on the page that the request was answered when it is opened again', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'The machine is logged in' }).waitFor();
  });

  it('ends the command with its own exit code when the person denies', async () => {
    const denied = await beginLogin();
    await page.goto(denied.approvalUrl);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'The request was denied' }).waitFor();
    const { code } = await denied.login.ended;
    assert.equal(code, 3);
    assert.match(denied.login.stderr, /LOGIN_DENIED/);
  });

  it('shows no form for a workspace that the person does not belong to', async () => {
    const foreign = await startLogin(machine, hub.baseUrl, 'elsewhere', 'build-7');
    await page.goto(foreign.approvalUrl);
    await page.getByRole('heading', { name: 'You cannot approve this request' }).waitFor();
    foreign.login.child.kill('SIGINT');
    assert.equal((await foreign.login.ended).code, 130);
  });

  it('revokes the token with the logout', async () => {
    const { token } = readLogin();
    assert.equal((await callWhoami(token)).status, 200);
    assert.equal((await machine.run(['logout'])).code, 0);
    const refused = await callWhoami(token);
    assert.equal(refused.status, 401);
    assert.equal(((await refused.json()) as { error: string }).error, 'TOKEN_REVOKED');
    assert.equal((await machine.run(['whoami'])).code, 3);
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });

  function readLogin(): { token: string; workspaceId: string } {
    const file = JSON.parse(readFileSync(credentialsFile, 'utf8')) as {
      logins: { token: string; workspaceId: string }[];
    };
    const [login] = file.logins;
    assert.ok(login, 'a login is kept');
    return login;
  }

  function callWhoami(token: string): Promise<Response> {
    return fetch(`${hub.baseUrl}/control-plane/v1/auth/token/whoami`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
  }
});
