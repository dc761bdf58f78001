import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { createMachine, type Machine } from './cli-process.ts';
import { databaseSettings } from './hub-database.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const owner = ownerOf('second');
const { hub, browser } = usePagePlace({ after });

const guest = {
  name: 'Grace Hopper',
  email: 'grace@second.example',
  password: 'harbour violin comet ledger',
} as const;
const newPassword = 'quartz meadow anvil thirteen';

describe('a second person, in a browser', { skip: browserMissing }, () => {
  let machine: Machine;
  let signedIn: SignedIn;
  let visit: Visit;
  let page: Page;
  let link: string;

  before(async () => {
    signedIn = await makeWorkspace(owner);
    machine = createMachine(folder, await databaseSettings(dataDir));
    visit = await openVisit(browser, hub.baseUrl);
    page = await visit.context.newPage();
  });
  const folder = makeTempDir({ after });

  /** Runs an admin command beside the hub. Its standard output is the link alone. */
  async function printLink(...args: string[]): Promise<string> {
    const end = await machine.run(['admin', ...args, '--data-dir', dataDir]);
    assert.equal(end.code, 0, end.stderr);
    return end.stdout.trim();
  }

  function invite(email: string, role = 'member'): Promise<string> {
    const { workspaceSlug } = owner;
    return printLink('members', 'invite', '-w', workspaceSlug, '--email', email, '--role', role);
  }

  async function submitSignIn(on: Page, password: string): Promise<void> {
    await on.getByLabel('E-mail address').fill(guest.email);
    await on.getByLabel('Password', { exact: true }).fill(password);
    await on.getByRole('button', { name: 'Sign in' }).click();
  }

  it('gets a link that leads to the hub, on any port', async () => {
    link = await invite(guest.email);
    assert.equal(new URL(link).origin, new URL(hub.baseUrl).origin);
  });

  it('reads what the link is for, and finds the first field ready', async () => {
    await page.goto(link);
    await page.getByRole('heading', { name: `Join ${owner.workspaceName}` }).waitFor();
    await page.getByText('The operator of this hub invites you').waitFor();
    assert.equal(new URL(page.url()).hash, '', 'the token has left the address');
    await page.locator('input[name=name]:focus').waitFor();
    assert.equal(await page.getByLabel('E-mail address').inputValue(), guest.email);
    await page.reload();
    await page.getByRole('heading', { name: `Join ${owner.workspaceName}` }).waitFor();
  });

  it('gets every refusal beside its field, the first of them in focus', async () => {
    await page.getByRole('button', { name: 'Accept and create account' }).click();
    await page.getByText('Enter your name.').waitFor();
    await page.getByText('Use at least 8 characters.').waitFor();
    await page.locator('input[name=name]:focus').waitFor();
    await page.getByLabel('Your name').fill(guest.name);
    await page.getByLabel('Password', { exact: true }).fill('password1234');
    await page.getByRole('button', { name: 'Accept and create account' }).click();
    // The hub knows the most common passwords.
    await page.locator('input[name=password][aria-invalid=true]:focus').waitFor();
  });

  it('accepts, and lands in the workspace', async () => {
    await page.getByLabel('Password', { exact: true }).fill(guest.password);
    await page.getByRole('button', { name: 'Accept and create account' }).click();
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/w/${owner.workspaceSlug}/jobs`);
    await page.getByRole('button', { name: `Account of ${guest.name}` }).waitFor();
  });

  it('reads on the page of a used link that it was used, and where to sign in', async () => {
    const stranger = await openVisit(browser, hub.baseUrl);
    const other = await stranger.context.newPage();
    await other.goto(link);
    await other.getByRole('heading', { name: 'This invitation was used' }).waitFor();
    await other.getByRole('link', { name: 'Go to sign-in' }).click();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.deepEqual(stranger.troubles, []);
    await stranger.context.close();
  });

  it('accepts for another workspace with one button when signed in', async () => {
    await printLink('workspace', 'create', '--slug', 'beta', '--name', 'Beta Works');
    const args = ['-w', 'beta', '--role', 'viewer', '--email', guest.email];
    await page.goto(await printLink('members', 'invite', ...args));
    await page.getByRole('heading', { name: 'Join Beta Works' }).waitFor();
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/w/beta/jobs');
  });

  it('accepts with the password when somebody else is signed in, and is signed in then', async () => {
    await printLink('workspace', 'create', '--slug', 'gamma', '--name', 'Gamma Works');
    const args = ['-w', 'gamma', '--role', 'admin', '--email', guest.email];
    const shared = await openVisit(browser, hub.baseUrl);
    await lendSession(shared.context, signedIn);
    const other = await shared.context.newPage();
    await other.goto(await printLink('members', 'invite', ...args));
    await other.getByText(`You are signed in as ${owner.email}.`).waitFor();
    await other.getByRole('button', { name: 'I have an account already' }).click();
    await other.locator('input[name=password]:focus').waitFor();
    await other.getByRole('button', { name: 'Sign in and accept' }).click();
    await other.getByText('Enter your password.').waitFor();
    await other.getByLabel('Password', { exact: true }).fill('wrong password entirely');
    await other.getByRole('button', { name: 'Sign in and accept' }).click();
    await other.getByText('This is not the password of an account with this address.').waitFor();
    await other.getByLabel('Password', { exact: true }).fill(guest.password);
    await other.getByRole('button', { name: 'Sign in and accept' }).click();
    await other.getByRole('button', { name: `Account of ${guest.name}` }).waitFor();
    assert.equal(new URL(other.url()).pathname, '/w/gamma/jobs');
    assert.deepEqual(shared.troubles, []);
    await shared.context.close();
  });

  it('gets a link for a lost password, whose page says what a new password ends', async () => {
    link = await printLink('person', 'reset-password', '--email', guest.email);
    assert.equal(new URL(link).origin, new URL(hub.baseUrl).origin);
    await page.goto(link);
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
    assert.equal(new URL(page.url()).hash, '', 'the token has left the address');
    await page.getByText('You are signed out of every other browser.').waitFor();
    await page.getByText('Open invitations that you sent are revoked.').waitFor();
    await page.locator('input[name=newPassword]:focus').waitFor();
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.getByText('Use at least 8 characters.').waitFor();
  });

  it('sets a new password and is signed in, and signed out everywhere else', async () => {
    const elsewhere = await openVisit(browser, hub.baseUrl);
    const other = await elsewhere.context.newPage();
    await other.goto('/');
    await submitSignIn(other, guest.password);
    await other.getByRole('button', { name: `Account of ${guest.name}` }).waitFor();
    await page.getByLabel('New password', { exact: true }).fill(newPassword);
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.getByRole('button', { name: `Account of ${guest.name}` }).waitFor();
    // The other page notices when its stream ends, without a reload.
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await submitSignIn(other, guest.password);
    await other.getByRole('alert').getByText('SIGN_IN_FAILED').waitFor();
    await submitSignIn(other, newPassword);
    await other.getByRole('button', { name: `Account of ${guest.name}` }).waitFor();
    assert.deepEqual(elsewhere.troubles, []);
    await elsewhere.context.close();
  });

  it('reads that the link was used, and that an older one was replaced', async () => {
    const older = await printLink('person', 'reset-password', '--email', guest.email);
    await printLink('person', 'reset-password', '--email', guest.email);
    const stranger = await openVisit(browser, hub.baseUrl);
    const other = await stranger.context.newPage();
    await other.goto(link);
    await other.getByRole('heading', { name: 'This link was used' }).waitFor();
    await other.goto(older);
    await other.getByRole('heading', { name: 'This link was replaced' }).waitFor();
    assert.deepEqual(stranger.troubles, []);
    await stranger.context.close();
  });

  it('sees no violation of the content security policy and no error of the browser', () => {
    assert.deepEqual(visit.troubles, []);
  });
});
