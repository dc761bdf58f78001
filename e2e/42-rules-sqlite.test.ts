import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Uncertainty } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type VisitOptions } from './browser.ts';
import { configOf } from './hub-database.ts';
import { auditSchemes } from './page-audit.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession, type SignedIn } from './person.ts';

const owner = ownerOf('rules');
const { hub, browser } = usePagePlace({ after });
const screens: Readonly<Record<string, VisitOptions>> = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};

/** As an agent asks about actions of its tool; the page is that of a person. */
describe('an answer that becomes a rule', { skip: browserMissing }, () => {
  let person: SignedIn;
  let client: Client;
  let jobId: string;
  let asked = 0;

  before(async () => {
    person = await makeWorkspace(owner);
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug: owner.workspaceSlug,
      name: 'agent',
      scopes: ['enqueue', 'read', 'agent'],
    });
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { workspaceId } = person;
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'acme/api',
    });
    ({ jobId } = await client.jobs.enqueue({
      workspaceId,
      repoId,
      kind: 'work',
      prompt: 'Mend the migrations.',
    }));
  });

  async function ask(...words: string[]): Promise<string> {
    asked += 1;
    const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
      workspaceId: person.workspaceId,
      jobId,
      kind: 'approval',
      confidence: 0,
      prompt: `claude asks to run a command: ${words.join(' ')}`,
      options: [
        { value: 'allow', label: 'Yes' },
        { value: 'reject', label: 'No' },
      ],
      actionKey: `execute:${asked}`,
      action: { kind: 'execute', words, allow: 'allow', refuse: 'reject' },
    });
    return uncertaintyId;
  }

  async function read(uncertaintyId: string): Promise<Uncertainty> {
    const ref = { workspaceId: person.workspaceId, uncertaintyId };
    return (await client.uncertainties.get(ref)).uncertainty;
  }

  async function visit(screen: string): Promise<Page> {
    const { context } = await openVisit(browser, hub.baseUrl, { ...screens[screen] });
    await lendSession(context, person);
    return context.newPage();
  }

  async function look(page: Page, name: string): Promise<void> {
    assert.deepEqual(await auditSchemes(page, name), []);
  }

  for (const screen of Object.keys(screens)) {
    it(`is shown before it is saved, answers, and ends when it is revoked (${screen})`, async () => {
      const tool = `db-${screen}`;
      const [past, first] = [await ask(tool, 'migrate', 'one'), await ask(tool, 'migrate', 'two')];
      const page = await visit(screen);
      await page.goto(`/w/${owner.workspaceSlug}/inbox/${first}`);
      await page.getByRole('radio', { name: 'Refuse, and say why' }).waitFor();
      await page.getByRole('radio', { name: 'Yes' }).check();
      await page.getByRole('button', { name: /^Answer “Yes”/ }).click();
      // After the five seconds in which an answer can be undone.
      await page.getByRole('button', { name: 'Answer this from now on' }).click();
      const dialog = page.getByRole('dialog', { name: 'Answer this from now on' });
      await dialog.getByText('It would have allowed no other question so far.').waitFor();
      await dialog.getByLabel('Actions').selectOption(`Any that begins: run ${tool} migrate …`);
      await dialog.getByText('It would have allowed one other question:').waitFor();
      await dialog.getByText(`${tool} migrate one`).waitFor();
      await look(page, `rule-dialog-${screen}`);
      await dialog.getByRole('button', { name: 'Save the rule' }).click();
      await page.getByText('The rule answers from now on').waitFor();

      const next = await read(await ask(tool, 'migrate', 'three'));
      assert.equal(next.resolution?.value, 'allow');
      assert.equal((await read(past)).status, 'open', 'earlier questions stay');
      assert.equal((await read(await ask(tool, 'drop', 'all'))).status, 'open');
      await page.goto(`/w/${owner.workspaceSlug}/inbox/${next.uncertaintyId}`);
      await page.getByText('A rule of yours answered').waitFor();

      await page.goto(`/w/${owner.workspaceSlug}/settings/rules`);
      const row = page.getByRole('listitem').filter({ hasText: `${tool} migrate …` });
      await row.getByText('used once').waitFor();
      await look(page, `rules-${screen}`);
      await row.getByRole('button', { name: /^Revoke/ }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('revoked').waitFor();
      assert.equal((await read(await ask(tool, 'migrate', 'four'))).status, 'open');
    });
  }
});
