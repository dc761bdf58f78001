import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { usePagePlace } from './page-place.ts';
import { owner } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

describe('the first owner, in a browser', { skip: browserMissing }, () => {
  let hub: HubProcess;
  let visit: Visit;
  let page: Page;

  before(async () => {
    hub = await startHubProcess({ dataDir });
    visit = await openVisit(browser, hub.baseUrl);
    page = await visit.context.newPage();
  });
  after(async () => {
    await hub?.stop();
  });
  // Registered after the hub's end, so that the directory is deleted later.
  const dataDir = join(makeTempDir({ after }), 'data');

  async function submitSignIn(on: Page, password: string): Promise<void> {
    await on.getByLabel('E-mail address').fill(owner.email);
    await on.getByLabel('Password', { exact: true }).fill(password);
    await on.getByRole('button', { name: 'Sign in' }).click();
  }

  async function signOut(on: Page): Promise<void> {
    await on.getByRole('button', { name: `Account of ${owner.name}` }).click();
    await on.getByRole('menuitem', { name: 'Sign out' }).click();
    await on.getByRole('heading', { name: 'Sign in' }).waitFor();
  }

  it('sees on the sign-in page of a new hub that the printed link comes first', async () => {
    await page.goto('/');
    await page.getByText('This hub has no owner yet.').waitFor();
    await page.locator('input[name=email]:focus').waitFor();
    await page.getByLabel('E-mail address').fill('ada');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Enter an e-mail address such as ada@acme.dev.').waitFor();
    await page.getByText('Enter your password.').waitFor();
    assert.equal(new URL(page.url()).pathname, '/sign-in');
  });

  it('sees each refusal at the field that caused it', async () => {
    await page.goto(hub.firstOwnerUrl ?? '');
    await page.locator('input[name=name]:focus').waitFor();
    await page.getByRole('button', { name: 'Create owner and workspace' }).click();
    for (const text of ['Enter your name.', 'Enter your e-mail address.', 'Use at least']) {
      await page.getByRole('alert').filter({ hasText: text }).waitFor();
    }
    await page.getByLabel('Your name').fill(owner.name);
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill('password1234');
    await page.getByLabel('Workspace name').fill(owner.workspaceName);
    assert.equal(await page.getByLabel('Workspace slug').inputValue(), 'acme-works');
    await page.getByLabel('Workspace slug').fill(owner.workspaceSlug);
    await page.getByRole('button', { name: 'Create owner and workspace' }).click();
    await page.locator('input[name=password][aria-invalid=true]').waitFor();
  });

  it('creates owner and workspace and lands on the jobs of the new workspace', async () => {
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    // The next page is held back, so that what is shown meanwhile can be seen.
    const held = Promise.withResolvers<void>();
    const isAsked = Promise.withResolvers<void>();
    await page.route(/\.js$/, async (route) => {
      isAsked.resolve();
      await held.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create owner and workspace' }).click();
    await isAsked.promise;
    await page.waitForURL(/\/w\//);
    assert.equal(await page.getByText('This link is not valid').count(), 0);
    held.resolve();
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    await page.unroute(/\.js$/);
    assert.equal(new URL(page.url()).pathname, `/w/${owner.workspaceSlug}/jobs`);
    assert.equal(new URL(page.url()).hash, '', 'the token has left the address');
  });

  it('holds a session cookie that no script and no other site can use', async () => {
    const [cookie, ...others] = await visit.context.cookies();
    assert.ok(cookie, 'a cookie is set');
    assert.deepEqual(others, []);
    assert.deepEqual(
      {
        httpOnly: cookie.httpOnly,
        sameSite: cookie.sameSite,
        path: cookie.path,
        domain: cookie.domain,
      },
      { httpOnly: true, sameSite: 'Lax', path: '/', domain: '127.0.0.1' },
    );
    assert.ok(cookie.value.length >= 22, 'at least 128 bits');
    assert.equal(await page.evaluate('document.cookie'), '');
  });

  it('is signed in in a second tab, and signing out in one tab signs out in both', async () => {
    const second = await visit.context.newPage();
    await second.goto('/');
    await second.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    await signOut(page);
    // The other page finds out when it next refreshes its list, without a reload.
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    await second.close();
    assert.deepEqual(await visit.context.cookies(), []);
  });

  it('sees that the password is wrong, and the form keeps the typed address', async () => {
    await submitSignIn(page, 'wrong password entirely');
    await page.getByRole('alert').getByText('SIGN_IN_FAILED').waitFor();
    assert.equal(await page.getByLabel('E-mail address').inputValue(), owner.email);
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
  });

  it('signs in again', async () => {
    await submitSignIn(page, owner.password);
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  });

  it('signs in on the way to a requested page, and arrives there', async () => {
    await signOut(page);
    await page.goto(`/w/${owner.workspaceSlug}/jobs?status=failed`);
    await submitSignIn(page, owner.password);
    await page.getByText('No job matches these filters.').waitFor();
    assert.equal(new URL(page.url()).search, '?status=failed');
  });

  it('cannot use the link a second time', async () => {
    const stranger = await openVisit(browser, hub.baseUrl);
    const other = await stranger.context.newPage();
    await other.goto(hub.firstOwnerUrl ?? '');
    await other.getByRole('heading', { name: 'This link is not valid' }).waitFor();
    assert.deepEqual(stranger.troubles, []);
    await stranger.context.close();
  });

  it('gets no new link from a restarted hub and stays signed in', async () => {
    const { port } = new URL(hub.baseUrl);
    // An open page asks for its list every few seconds. While the hub is stopped, the browser would
    // log each of these requests as an error.
    await page.goto('about:blank');
    await hub.stop();
    hub = await startHubProcess({ dataDir, port: Number(port) });
    assert.equal(hub.firstOwnerUrl, null);
    await page.goto('/');
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });
});
