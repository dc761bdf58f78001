import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  createWorkspaceByAdmin,
  inviteMemberByAdmin,
  mintTokenByAdmin,
  resetPasswordByAdmin,
} from '@signalbox/hub';
import { createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, followLink, openVisit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';
import { makeJobSamples, type SampleName } from './job-samples.ts';
import { auditSchemes, auditScreens } from './page-audit.ts';
import { usePagePlace } from './page-place.ts';
import { lendSession, makeOwner, owner, type SignedIn } from './person.ts';
import { makeTempDir } from './temp-dir.ts';

const { browser } = usePagePlace({ after });

const screens: Readonly<Record<string, VisitOptions>> = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};

/** A page as a person comes to see it. */
interface Scene {
  name: string;
  path: string;
  /** There when the page is. */
  shows: (page: Page) => { waitFor(): Promise<void> };
  /** The first steps of the person. */
  act?: (page: Page) => Promise<void>;
}

const assistantUri = 'http://127.0.0.1/callback';

async function registerAssistant(baseUrl: string): Promise<{ client_id: string }> {
  const body = JSON.stringify({ client_name: 'Assistant', redirect_uris: [assistantUri] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${baseUrl}/oauth/register`, { method: 'POST', headers, body });
  return (await answer.json()) as { client_id: string };
}

const heading = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name });

describe('every page, at every size and in every color scheme', { skip: browserMissing }, () => {
  let hub: HubProcess;
  let person: SignedIn;
  let firstOwnerPath: string;
  let devicePath: string;
  let samples: Readonly<Record<SampleName, string>>;

  before(async () => {
    hub = await startHubProcess({ dataDir });
    firstOwnerPath = (hub.firstOwnerUrl ?? '').slice(hub.baseUrl.length);
  });
  after(async () => {
    await hub?.stop();
  });
  // Registered after the hub's end, so that the directory is deleted later.
  const dataDir = makeTempDir({ after });

  /**
   * Shows the scenes on every screen, in light and in dark, and holds each against the audit. The
   * steps of a person are taken on each screen, whose controls may differ.
   */
  async function show(scenes: readonly Scene[], guest = false): Promise<void> {
    const withSteps = scenes.filter(({ act }) => act !== undefined);
    const onScreens = Object.entries(screens).map(async ([screen, options]) => {
      const visit = await openVisit(browser, hub.baseUrl, { ...options });
      if (!guest) await lendSession(visit.context, person);
      const page = await visit.context.newPage();
      const faults: string[] = [];
      for (const scene of screen === 'desktop' ? scenes : withSteps) {
        faults.push(...(await showScene(page, scene, { screen, guest })));
      }
      assert.deepEqual(faults, [], screen);
      assert.deepEqual(visit.troubles, []);
      await visit.context.close();
    });
    await Promise.all(onScreens);
  }

  async function showScene(
    page: Page,
    { name, path, shows, act }: Scene,
    { screen, guest }: { screen: string; guest: boolean },
  ): Promise<string[]> {
    if (guest || act !== undefined) await open(page, path);
    else await followLink(page, path);
    await shows(page).waitFor();
    if (act === undefined) return await auditScreens(page, name);
    await act(page);
    return await auditSchemes(page, `${name}-${screen}`);
  }

  /** Another page first, so that a change of the fragment alone is a new visit too. */
  async function open(page: Page, path: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(path);
  }

  it('passes the audit before any person exists', async () => {
    await show(
      [
        { name: 'sign-in-new-hub', path: '/', shows: heading('Sign in') },
        { name: 'first-owner', path: firstOwnerPath, shows: heading('Create the first owner') },
        {
          name: 'first-owner-refused',
          path: firstOwnerPath,
          shows: heading('Create the first owner'),
          async act(page) {
            const values = ['Ada', 'ada@acme.example', 'password1234', 'Acme', 'acme'];
            const inputs = page.locator('form input');
            for (const [at, value] of values.entries()) await inputs.nth(at).fill(value);
            await page.getByRole('button', { name: 'Create owner and workspace' }).click();
            await page.getByRole('alert').waitFor();
          },
        },
        {
          name: 'first-owner-dead-link',
          path: '/first-owner#token=none',
          shows: heading('This link is not valid'),
        },
        {
          name: 'sign-in-link-dead',
          path: '/sign-in-link#token=none',
          shows: heading('This link is not valid'),
        },
      ],
      true,
    );
  });

  it('passes the audit for an owner without jobs', async () => {
    person = await makeOwner(hub);
    const jobs = `/w/${owner.workspaceSlug}/jobs`;
    await show([
      { name: 'jobs-none', path: jobs, shows: heading('No jobs yet') },
      { name: 'not-found', path: '/w/nowhere', shows: heading('Page not found') },
      {
        name: 'account-menu',
        path: jobs,
        shows: heading('No jobs yet'),
        async act(page) {
          await page.getByRole('button', { name: /^Account of/ }).click();
          await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
        },
      },
      {
        name: 'workspace-menu',
        path: jobs,
        shows: heading('No jobs yet'),
        async act(page) {
          await page.getByRole('button', { name: /Switch workspace/ }).click();
          await page.getByRole('menuitem', { name: /Acme Works/ }).waitFor();
        },
      },
    ]);
  });

  it('passes the audit for jobs in every status', async () => {
    const config = await configOf(dataDir);
    const { workspaceSlug } = owner;
    const { token } = await mintTokenByAdmin(config, { workspaceSlug, name: 'samples' });
    samples = await makeJobSamples(hub.baseUrl, token, person.workspaceId);
    const jobs = `/w/${workspaceSlug}/jobs`;
    // The scenario of the job page audits it in every status; these have unusual texts.
    const statuses = ['pending', 'done', 'failed'] as const;
    await show([
      {
        name: 'jobs',
        path: jobs,
        shows: (page) => page.getByRole('list', { name: 'Jobs' }),
      },
      {
        name: 'jobs-none-match',
        path: `${jobs}?kind=git_repair`,
        shows: (page) => page.getByText('No job matches these filters.'),
      },
      ...statuses.map((status) => ({
        name: `job-${status}`,
        path: `${jobs}/${samples[status]}`,
        shows: (page: Page) => page.getByRole('heading', { name: 'Details' }),
        async act(page: Page) {
          for (const details of await page.locator('summary').all()) await details.click();
        },
      })),
      {
        name: 'job-unknown',
        path: `${jobs}/job_none`,
        shows: heading('Job not found in this workspace'),
      },
      {
        name: 'job-cancel-dialog',
        path: `${jobs}/${samples.running}`,
        shows: (page) => page.getByRole('button', { name: 'Cancel job' }),
        async act(page) {
          await page.getByRole('button', { name: 'Cancel job' }).click();
          await page.getByRole('alertdialog').waitFor();
        },
      },
    ]);
  });

  it('shows the text of an agent as text and runs none of it', async () => {
    const visit = await openVisit(browser, hub.baseUrl);
    await lendSession(visit.context, person);
    const page = await visit.context.newPage();
    await page.goto(`/w/${owner.workspaceSlug}/jobs/${samples.failed}?tab=log`);
    await page.getByRole('log').getByText('<img src=x onerror=alert(1)>').waitFor();
    assert.equal(await page.locator('img').count(), 0);
    assert.deepEqual(visit.troubles, []);
  });

  it('passes the audit for the login of a machine', async () => {
    const client = createClient({ baseUrl: hub.baseUrl });
    const asked = await client.devices.start({
      workspaceSlug: owner.workspaceSlug,
      machineName: 'a-machine-with-a-rather-long-name.example',
    });
    devicePath = asked.approvalUrl.slice(hub.baseUrl.length);
    const { client_id: clientId } = await registerAssistant(hub.baseUrl);
    const assistantPath = `/allow-assistant#${new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: assistantUri,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      resource: `${hub.baseUrl}/mcp`,
    })}`;
    await show([
      { name: 'device-unknown', path: '/device', shows: heading('Request not found') },
      { name: 'assistant', path: assistantPath, shows: heading('Connect this assistant?') },
      {
        name: 'assistant-refused',
        path: '/allow-assistant#scope=read',
        shows: heading('This request cannot be answered'),
      },
    ]);
    // Only the session that opened a request may answer it.
    await show([
      { name: 'device', path: devicePath, shows: heading('Log in this machine?') },
      {
        name: 'device-wrong-code',
        path: devicePath,
        shows: heading('Log in this machine?'),
        async act(page) {
          await page.getByLabel('Code shown in your terminal').fill('BBBBBBBB');
          await page.getByRole('button', { name: 'Approve' }).click();
          await page.getByRole('alert').waitFor();
        },
      },
    ]);
  });

  it('holds for an invitation in every state, for guests and signed-in people', async () => {
    const config = await configOf(dataDir);
    const beta = { slug: 'beta', name: 'A workspace with a rather long name for one line' };
    await createWorkspaceByAdmin(config, beta);
    const invite = async (email: string, workspaceSlug: string = owner.workspaceSlug) => {
      const draft = { workspaceSlug, email, role: 'member' } as const;
      const { invitationUrl } = await inviteMemberByAdmin(config, draft);
      return invitationUrl.slice(hub.baseUrl.length);
    };
    const replaced = await invite('new@acme.example');
    const fresh = await invite('new@acme.example');
    const known = await invite(owner.email, beta.slug);
    const join = heading(/^Join /);
    const guests: Scene[] = [
      { name: 'invitation', path: fresh, shows: join },
      {
        name: 'invitation-refused',
        path: fresh,
        shows: join,
        async act(page) {
          await page.getByRole('button', { name: 'Accept and create account' }).click();
          await page.getByRole('alert').first().waitFor();
        },
      },
      { name: 'invitation-known', path: known, shows: join },
      { name: 'invitation-revoked', path: replaced, shows: heading('This invitation was revoked') },
      {
        name: 'invitation-unknown',
        path: '/invitation',
        shows: heading('There is no such invitation'),
      },
    ];
    await show(guests, true);
    await show([
      { name: 'invitation-signed-in', path: known, shows: join },
      { name: 'invitation-other-person', path: fresh, shows: join },
    ]);
  });

  it('holds for a lost password, with links in every state', async () => {
    const config = await configOf(dataDir);
    const createLink = async () => {
      const reset = await resetPasswordByAdmin(config, owner.email);
      return reset?.resetUrl.slice(hub.baseUrl.length) ?? '';
    };
    const [replaced, open] = [await createLink(), await createLink()];
    await show(
      [
        { name: 'reset-password', path: open, shows: heading('Set a new password') },
        {
          name: 'reset-password-refused',
          path: open,
          shows: heading('Set a new password'),
          async act(page) {
            await page.getByRole('button', { name: 'Set password and sign in' }).click();
            await page.getByRole('alert').waitFor();
          },
        },
        {
          name: 'reset-password-replaced',
          path: replaced,
          shows: heading('This link was replaced'),
        },
      ],
      true,
    );
  });

  it('holds for a person who signs in to log a machine in, and mistypes', async () => {
    await show(
      [
        {
          name: 'sign-in-failed',
          path: devicePath,
          shows: heading('Sign in'),
          async act(page) {
            await page.getByLabel('E-mail address').fill(owner.email);
            await page.getByLabel('Password', { exact: true }).fill('not the password');
            await page.getByRole('button', { name: 'Sign in' }).click();
            await page.getByRole('alert').waitFor();
          },
        },
      ],
      true,
    );
  });
});
