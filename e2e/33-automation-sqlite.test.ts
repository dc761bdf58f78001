import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endpoints, INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, followLink, openVisit, type Visit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditScreens } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { joinWorkspace, lendSession, type SignedIn } from './person.ts';

const owner = ownerOf('automation');
const { hub, browser } = usePagePlace({ after });

const desktop: VisitOptions = { viewport: { width: 1280, height: 800 } };

describe('triggers, events and connections, in a browser', { skip: browserMissing }, () => {
  let ada: SignedIn;
  let client: Client;
  let visit: Visit;
  let page: Page;
  let secret: string;
  let triggerPath: string;
  let sent = 0;

  before(async () => {
    ada = await makeWorkspace(owner);
    const draft = { workspaceSlug: owner.workspaceSlug, name: 'robot' };
    const { token } = await mintTokenByAdmin(await configOf(dataDir), draft);
    client = createClient({ baseUrl: hub.baseUrl, token });
    const remoteUrlHash = 'd4'.repeat(32);
    await client.repositories.upsert({
      workspaceId: ada.workspaceId,
      label: 'acme/api',
      remoteUrlHash,
    });
    visit = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(visit.context, ada);
    page = await visit.context.newPage();
  });

  const pathOf = (name: string) => `/w/${owner.workspaceSlug}/settings/${name}`;
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const toast = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const confirm = (name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name }).click();

  /** Sends an event as a tracker would. */
  async function send(title: string, number: number): Promise<void> {
    sent += 1;
    const response = await fetch(`${hub.baseUrl}${endpoints.integrations.ingest.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [INTEGRATION_SECRET_HEADER]: secret },
      body: JSON.stringify({
        workspaceId: ada.workspaceId,
        idempotencyKey: `event-${sent}`,
        source: 'tracker',
        type: 'issue.opened',
        title,
        content: 'Nothing to ask.',
        data: { number },
      }),
    });
    assert.equal(response.status, 200, await response.text());
  }

  it('shows every page empty, with how to begin, to owners and to a viewer', async () => {
    const headings = {
      triggers: 'No triggers yet',
      events: 'No events yet',
      connections: 'No secrets yet',
    };
    await audit('empty', Object.entries(headings), ada);
    const viewer = await joinWorkspace(ada, 'Vera', 'viewer');
    const own = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(own.context, viewer);
    const view = await own.context.newPage();
    await view.goto(pathOf('connections'));
    await view.getByRole('heading', { name: 'Owners and admins see the connections' }).waitFor();
    await view.goto(pathOf('triggers'));
    // A press is allowed, although the control says that it is disabled: it shows the reason.
    await view.getByRole('button', { name: 'New trigger' }).click({ force: true });
    await view.getByText('Only owners and admins may do this. Ask one of them.').first().waitFor();
    assert.deepEqual(own.troubles, []);
    await own.context.close();
  });

  it('makes a secret that is shown once, with which a system sends events', async () => {
    await page.goto(pathOf('connections'));
    await button('New secret').click();
    await page.getByLabel('System').fill('tracker');
    await button('Create secret').click();
    secret = (await page.locator('code', { hasText: 'sbx_i_' }).textContent()) ?? '';
    await button('I have copied it').click();
    await page.getByText('sbx_i_').waitFor({ state: 'detached' });
    await send('Before any trigger', 1);
    await page.reload();
    await page.getByRole('list', { name: 'Secrets for events' }).getByText('tracker').waitFor();
    assert.equal(await page.getByText('sbx_i_').count(), 0);
  });

  it('adds and removes chat teams and mail accounts', async () => {
    await button('Add a team').click();
    await page.getByLabel('Team ID').fill('acme');
    await button('Add the team').click();
    await page.getByText('Enter the ID of the team, such as T024BE7LD.').waitFor();
    await page.getByLabel('Team ID').fill('T024BE7LD');
    await page.getByLabel('Team name').fill('Acme chat');
    await button('Add the team').click();
    const teams = page.getByRole('list', { name: 'Chat teams' });
    await teams.getByText(/^signalbox-/).waitFor();
    await button('Remove Acme chat').click();
    await confirm('Remove');
    await page.getByRole('heading', { name: 'No chat teams yet' }).waitFor();
    await button('Add an account').click();
    await page.getByLabel('Account name').fill('Support');
    await page.getByLabel('IMAP server').fill('imap.acme.example');
    await page.getByLabel('User name').fill('support@acme.example');
    await page.getByLabel('Password', { exact: true }).fill('a password for mail');
    await button('Add the account').click();
    const accounts = page.getByRole('list', { name: 'Mail accounts' });
    await accounts.getByText('imap.acme.example:993').waitFor();
    await button('Remove Support').click();
    await confirm('Remove');
    await page.getByRole('heading', { name: 'No mail accounts yet' }).waitFor();
  });

  it('makes a trigger, by the keyboard alone', async () => {
    await page.goto(pathOf('triggers'));
    await button('New trigger').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Choose the repository of the jobs.').waitFor();
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.type('Opened issues');
    await page.getByLabel('Type of the event').focus();
    await page.keyboard.type('issue.opened');
    await button('Add a condition').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Field 1').focus();
    await page.keyboard.type('data.number');
    await page.getByLabel('Value 1').focus();
    await page.keyboard.type('7');
    await page.getByLabel('Repository').selectOption({ label: 'acme/api' });
    await page.getByLabel('Prompt').focus();
    await page.keyboard.type('Plan this issue: {{event.title}}');
    await button('Create trigger').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Opened issues' }).waitFor();
    await page.waitForURL(`**${pathOf('triggers')}/trg_*`);
    triggerPath = new URL(page.url()).pathname;
    await page.getByText('It has not fired yet.').waitFor();
  });

  it('tests the trigger against past events, and enqueues nothing', async () => {
    await page.getByLabel('Event').selectOption({ index: 1 });
    await page.getByText('It would enqueue nothing: condition 1 does not match.').waitFor();
    await button('Edit').click();
    await button('Remove condition 1').click();
    await button('Save the trigger').click();
    await toast('The trigger is saved');
    await page.getByText('on issue.opened', { exact: true }).waitFor();
    await page.getByLabel('Event').selectOption({ index: 1 });
    await page.getByText('It would enqueue this job:').waitFor();
    await page.locator('pre', { hasText: 'Before any trigger' }).waitFor();
    const { jobs } = await client.jobs.list({ workspaceId: ada.workspaceId });
    assert.equal(jobs.length, 0);
  });

  it('shows what the trigger did as soon as an event has arrived', async () => {
    await send('The balancer has no health check', 7);
    const firings = page.getByRole('list', { name: 'Latest firings' });
    await firings.getByRole('link', { name: 'Enqueued a job' }).click();
    await page.waitForURL('**/jobs/job_*');
  });

  it('shows each event, what it did and its payload', async () => {
    await page.goto(pathOf('events'));
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText('The balancer has no health check').click();
    const fate = page.getByRole('list', { name: 'What it did' });
    await fate.getByText('Opened issues').waitFor();
    await fate.getByRole('link', { name: 'Enqueued a job' }).waitFor();
    await page.getByText('Payload').click();
    await page.locator('pre', { hasText: '"number": 7' }).waitFor();
    await events.getByText('Before any trigger').click();
    await page.getByText('No trigger was enabled when it arrived.').waitFor();
  });

  it('makes a schedule, pauses and resumes it', async () => {
    await page.goto(pathOf('triggers'));
    await button('New trigger').click();
    await page.getByLabel('Name', { exact: true }).fill('Weekly look');
    await page.getByLabel('Starts by').selectOption('schedule');
    await page.getByLabel('Times').fill('every day');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('Repository').selectOption({ label: 'acme/api' });
    await page.getByLabel('Prompt').fill('Look at the dependencies.');
    await button('Create trigger').click();
    await page.locator('input[name=cron][aria-invalid=true]').waitFor();
    await page.getByLabel('Times').fill('0 9 * * MON');
    await button('Create trigger').click();
    await page.getByRole('heading', { name: 'Weekly look' }).waitFor();
    await button('Pause Weekly look').click();
    await confirm('Pause');
    await toast('Weekly look is paused');
    await button('Resume Weekly look').click();
    await confirm('Resume');
    await toast('Weekly look is resumed');
  });

  it('passes the audit with records, at both sizes and in both themes', async () => {
    const scenes: [string, string][] = [
      ['triggers', 'Triggers'],
      [triggerPath.slice(pathOf('').length), 'Latest firings'],
      ['events', 'Events'],
      ['connections', 'Secrets for events'],
    ];
    await audit('filled', scenes, ada);
    assert.deepEqual(visit.troubles, []);
  });

  it('deletes a trigger', async () => {
    await page.goto(triggerPath);
    await button('Delete Opened issues').click();
    await confirm('Delete');
    await toast('Opened issues is deleted');
    const triggers = page.getByRole('list', { name: 'Triggers' });
    await triggers.getByText('Weekly look').waitFor();
    assert.equal(await triggers.getByText('Opened issues').count(), 0);
    assert.deepEqual(visit.troubles, []);
  });

  /** Holds pages, each known by a heading, against the audit; unfolds and opens what they have. */
  async function audit(
    state: string,
    scenes: readonly (readonly [path: string, heading: string])[],
    person: SignedIn,
  ): Promise<void> {
    const faults: string[] = [];
    const own = await openVisit(browser, hub.baseUrl, desktop);
    await lendSession(own.context, person);
    const view = await own.context.newPage();
    for (const [path, heading] of scenes) {
      const name = `${path.split('/')[0]}${path.includes('/') ? '-one' : ''}-${state}`;
      await followLink(view, pathOf(path));
      await view.getByRole('heading', { name: heading, exact: true }).first().waitFor();
      await view.locator('main .animate-pulse').first().waitFor({ state: 'detached' });
      if (state === 'filled') await unfold(view, path);
      faults.push(...(await auditScreens(view, name)));
    }
    assert.deepEqual(own.troubles, []);
    await own.context.close();
    assert.deepEqual(faults, []);
  }

  /** Opens what a page with records has: a form, or the details of the latest event. */
  async function unfold(view: Page, path: string): Promise<void> {
    await view.locator('main li').first().waitFor();
    if (path === 'events') {
      await view.locator('main ol summary').first().click();
      await view.getByText('Payload').click();
    }
    if (path === 'triggers') {
      await view.getByRole('button', { name: 'New trigger' }).click();
      await view.getByRole('button', { name: 'Add a condition' }).click();
    }
  }
});
