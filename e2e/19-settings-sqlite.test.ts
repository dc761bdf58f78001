import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserMissing, followLink, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { auditScreens, keepPicture } from './page-audit.ts';
import { makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { callConsole, lendSession, type SignedIn } from './person.ts';

const owner = ownerOf('settings');
const { hub, browser } = usePagePlace({ after });

const grace = {
  name: 'Grace Hopper',
  email: 'grace@settings.example',
  password: 'nine lanterns over violet harbour',
};
const desktop: VisitOptions = { viewport: { width: 1280, height: 800 } };
const pages = ['workspace', 'members', 'tokens', 'machines', 'audit', 'account'] as const;

describe('settings, in a browser', { skip: browserMissing }, () => {
  let ada: SignedIn;
  let graceCookie: string;
  let visit: Visit;
  let page: Page;

  before(async () => {
    ada = await makeWorkspace(owner);
    visit = await openVisit(browser, hub.baseUrl, { ...desktop, acceptDownloads: true });
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
  });

  const pathOf = (name: string) => `/w/${owner.workspaceSlug}/settings/${name}`;
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const toast = (text: string | RegExp) => page.getByText(text).first().waitFor();

  it('opens with the workspace, by the key g s', async () => {
    await page.goto(`/w/${owner.workspaceSlug}/jobs`);
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.waitForURL(`**${pathOf('workspace')}`);
  });

  it('changes the workspace, and refuses a retention that is no number of days', async () => {
    await page.getByLabel('Name', { exact: true }).fill('Acme Rail');
    await page.getByLabel('Delete after days').fill('soon');
    await button('Save the settings').click();
    await page.getByText('Enter whole days from 1 to 36500, or nothing.').waitFor();
    await page.getByLabel('Delete after days').fill('90');
    await page.getByLabel('Tell owners too after minutes').fill('30');
    await page.getByLabel('Keep of each text').selectOption('excerpt');
    await button('Save the settings').click();
    await toast('The settings are saved');
    await page.reload();
    await page.getByLabel('Delete after days').waitFor();
    assert.equal(await page.getByLabel('Delete after days').inputValue(), '90');
    assert.equal(await page.getByLabel('Tell owners too after minutes').inputValue(), '30');
    assert.equal(await page.getByLabel('Keep of each text').inputValue(), 'excerpt');
    await page
      .getByRole('button', { name: /Acme Rail/ })
      .first()
      .waitFor();
  });

  it('invites a person by a link that is shown once and works', async () => {
    await page.goto(pathOf('members'));
    await button('Invite a person').click();
    await page.getByLabel('E-mail address').fill('grace');
    await button('Create link').click();
    await page.getByText('Enter an e-mail address such as ada@acme.dev.').waitFor();
    await page.getByLabel('E-mail address').fill(grace.email);
    await button('Create link').click();
    const link = await page.locator('code', { hasText: '/invitation#token=' }).textContent();
    await page.getByRole('list', { name: 'Open invitations' }).getByText(grace.email).waitFor();
    const linkToken = link?.split('#token=')[1];
    const { name, password } = grace;
    const accepted = await callConsole(hub.baseUrl, 'invitations/accept', {
      linkToken,
      name,
      password,
    });
    graceCookie = accepted.cookie;
    await button('I have copied it').click();
    await page.getByText('/invitation#token=').waitFor({ state: 'detached' });
  });

  it('changes a role, and names a member who exists already', async () => {
    await page.reload();
    await button(`Change ${grace.name}`).click();
    const dialog = page.getByRole('dialog', { name: grace.name });
    await dialog.getByLabel('Role').selectOption('viewer');
    await dialog.getByRole('button', { name: 'Change the role' }).click();
    await toast(`${grace.name} is a viewer now`);
    await button('Invite a person').click();
    await page.getByLabel('E-mail address').fill(grace.email);
    await button('Create link').click();
    await page.locator('input[name=email][aria-invalid=true]').waitFor();
  });

  it('keeps the last owner an owner, and says why', async () => {
    await page.goto(pathOf('members'));
    await button(`Change ${owner.name}`).click();
    const dialog = page.getByRole('dialog', { name: owner.name });
    await dialog.getByLabel('Role').selectOption('member');
    await dialog.getByRole('button', { name: 'Change the role' }).click();
    await dialog.getByText('LAST_OWNER').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('makes a token that works at once, and revokes it', async () => {
    await page.goto(pathOf('tokens'));
    await page.getByRole('heading', { name: 'No tokens yet' }).waitFor();
    await button('New token').click();
    await page.getByLabel('Name').fill('CI');
    await button('Create token').click();
    const token = (await page.locator('code', { hasText: 'sbx_s_' }).textContent()) ?? '';
    const whoami = async () => {
      const path = `${hub.baseUrl}/control-plane/v1/auth/token/whoami`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(path, { method: 'POST', headers, body: '{}' })).status;
    };
    assert.equal(await whoami(), 200);
    await button('I have copied it').click();
    await button('Revoke the token CI').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await toast('The token CI is revoked');
    assert.equal(await whoami(), 401);
    await page.getByRole('heading', { name: 'No tokens yet' }).waitFor();
  });

  it('changes name and password of the account, and ends other browsers', async () => {
    const { email, password } = owner;
    await callConsole(hub.baseUrl, 'session/sign-in', { email, password });
    await page.goto(pathOf('account'));
    const sessions = page.getByRole('list', { name: 'Signed-in browsers' });
    await sessions.getByRole('button', { name: /^Sign out/ }).waitFor();
    await page.getByLabel('Your name').fill('Ada King');
    await button('Save the name').click();
    await toast('Your name is Ada King now');
    await page.getByLabel('Present password').fill('not the password');
    await page.getByLabel('New password').fill('violet harbour under nine lanterns');
    await button('Change the password').click();
    await page.getByText('This is not your present password.').waitFor();
    await page.getByLabel('Present password').fill(password);
    await button('Change the password').click();
    await toast('Your password is changed');
    await sessions.getByRole('button', { name: /^Sign out/ }).waitFor({ state: 'detached' });
  });

  it('shows, filters, verifies and downloads the audit log', async () => {
    await page.goto(pathOf('audit'));
    const log = page.getByRole('list', { name: 'Audit log' });
    await log.getByText('created a token').first().waitFor();
    await page.getByRole('combobox', { name: 'Action' }).selectOption('member.change-role');
    await log.getByText('created a token').first().waitFor({ state: 'detached' });
    await log.getByText('changed the role of a member').first().waitFor();
    await page.waitForURL('**?action=member.change-role');
    await button('Verify').click();
    await page.getByText(/^All \d+ entries are whole\./).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      button('Download').click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    assert.equal(download.suggestedFilename(), `audit-${owner.workspaceSlug}.jsonl`);
    assert.match(lines.at(-1) ?? '', /audit\.export/);
  });

  it('shows a viewer every page, with the reason where the role does not suffice', async () => {
    const own = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(own.context, { ...ada, cookie: graceCookie });
    const view = await own.context.newPage();
    const reason = 'Only owners and admins may do this. Ask one of them.';
    await view.goto(pathOf('members'));
    // A press is allowed, although the control says that it is disabled: it shows the reason.
    await view.getByRole('button', { name: 'Invite a person' }).click({ force: true });
    await view.getByRole('status').filter({ hasText: reason }).first().waitFor();
    assert.equal(await view.getByLabel('E-mail address').count(), 0);
    await view.goto(pathOf('tokens'));
    await view.getByRole('heading', { name: 'Owners and admins see the tokens' }).waitFor();
    await view.goto(pathOf('audit'));
    await view.getByRole('heading', { name: 'Owners and admins read the audit log' }).waitFor();
    await view.goto(pathOf('workspace'));
    await view.getByText('Your role is viewer').waitFor();
    assert.equal(await view.getByLabel('Name', { exact: true }).isDisabled(), true);
    for (const name of pages) {
      await view.goto(pathOf(name));
      await view.getByRole('heading', { name: 'Settings' }).waitFor();
      await keepPicture(view, `settings-${name}-viewer-desktop-light`);
    }
    assert.deepEqual(own.troubles, []);
    await own.context.close();
  });

  it('passes the audit on every page, at both sizes and in both themes', async () => {
    const { workspaceId } = ada;
    const guest = { workspaceId, email: 'lin@settings.example', role: 'member' };
    await callConsole(hub.baseUrl, 'invitations/create', guest, await cookie());
    const token = { workspaceId, name: 'Release pipeline' };
    await callConsole(hub.baseUrl, 'service-tokens/mint', token, await cookie());
    const faults: string[] = [];
    for (const name of pages) {
      await followLink(page, pathOf(name));
      await page.locator('main section').first().waitFor();
      await page
        .locator('main [role=status] .animate-pulse')
        .first()
        .waitFor({ state: 'detached' });
      faults.push(...(await auditScreens(page, `settings-${name}`)));
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(visit.troubles, []);
  });

  /** The cookie of the open browser, whose session outlived the change of the password. */
  async function cookie(): Promise<string> {
    const [first] = await visit.context.cookies();
    return `${first?.name}=${first?.value}`;
  }
});
