import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UncertaintyKind } from '@signalbox/contract';
import { mintTokenByAdmin } from '@signalbox/hub';
import { type Client, createClient } from '@signalbox/sdk';
import type { Page } from 'playwright-core';
import { browserMissing, openVisit, type Visit } from './browser.ts';
import { configOf } from './hub-database.ts';
import { dataDir, makeWorkspace, ownerOf, usePagePlace } from './page-place.ts';
import { lendSession } from './person.ts';

const owner = ownerOf('hundred');
const { hub, browser } = usePagePlace({ after });

const DECISIONS = 100;
/** The promise to a person. */
const CLEARED_MS_MAX = 5 * 60_000;

/** At first a person skips this one. */
const SKIPPED = 10;

/** A question, the key that a person presses, and the words that they write after it. */
interface Sample {
  kind: UncertaintyKind;
  options: string[];
  recommendedValue?: string;
  key?: string;
  text?: string;
  answer: string;
}
const samples: Sample[] = [
  { kind: 'approval', options: ['once', 'never'], recommendedValue: 'once', answer: 'once' },
  { kind: 'choice', options: ['8080', '9443', '443'], key: '2', answer: '9443' },
  { kind: 'choice', options: ['eu', 'us'], key: '3', text: 'Both, 1 of j', answer: 'Both, 1 of j' },
  { kind: 'missing_fact', options: [], key: '1', text: 'Port 1 of j', answer: 'Port 1 of j' },
];
const sampleOf = (number: number): Sample => samples[number % samples.length] as Sample;

describe('a hundred decisions, by keyboard alone', { skip: browserMissing }, () => {
  let visit: Visit;
  let page: Page;
  let client: Client;
  let workspaceId: string;
  const asked = new Map<string, Sample>();

  before(async () => {
    const person = await makeWorkspace(owner);
    ({ workspaceId } = person);
    const { workspaceSlug } = owner;
    const { token } = await mintTokenByAdmin(await configOf(dataDir), {
      workspaceSlug,
      name: 'planner',
      scopes: ['enqueue', 'read'],
    });
    client = createClient({ baseUrl: hub.baseUrl, token });
    const { repoId } = await client.repositories.upsert({
      workspaceId,
      remoteUrlHash: 'a'.repeat(64),
      label: 'acme/api',
    });
    const run = { workspaceId, repoId, runRef: 'hundred', status: 'in_progress' };
    const { runId } = await client.runs.upsertV1(run);
    for (let number = 1; number <= DECISIONS; number += 1) {
      const sample = sampleOf(number);
      const { kind, options, recommendedValue } = sample;
      const { uncertaintyId } = await client.uncertainties.createWithAutoPromotion({
        workspaceId,
        runId,
        prompt: `Question ${number} of many?`,
        kind,
        confidence: 0.2,
        options: options.map((value) => ({ value })),
        ...(recommendedValue === undefined ? {} : { recommendedValue }),
      });
      asked.set(uncertaintyId, sample);
    }
    visit = await openVisit(browser, hub.baseUrl, { viewport: { width: 1280, height: 800 } });
    await lendSession(visit.context, person);
    page = await visit.context.newPage();
    await page.goto(`/w/${workspaceSlug}/inbox`);
  });

  it('are cleared in under five minutes, in their order, without losing the focus', async (t) => {
    const begunMs = performance.now();
    let pressed = 0;
    const press = async (key: string) => {
      pressed += 1;
      await page.keyboard.press(key);
    };
    const numbers = Array.from({ length: DECISIONS }, (_, at) => at + 1);
    const order = [...numbers.filter((number) => number !== SKIPPED), SKIPPED];
    const card = page.getByRole('article');
    const isAsked = (number: number) =>
      card.getByRole('heading', { name: `Question ${number} of many?` }).waitFor();
    for (const number of order) {
      await isAsked(number);
      const { key, text } = sampleOf(number);
      if (key !== undefined) await press(key);
      if (text !== undefined) {
        await page.locator('textarea:focus').waitFor();
        await page.keyboard.type(text);
        pressed += text.length;
      }
      await press('Control+Enter');
      await card.getByText('You answered').waitFor();
      await page.locator('[aria-label=Answer]:focus').waitFor();
      if (number === SKIPPED) break;
      await press('j');
      if (number + 1 !== SKIPPED) continue;
      await isAsked(SKIPPED);
      await press('j');
    }
    const tookMs = performance.now() - begunMs;
    t.diagnostic(`${DECISIONS} decisions in ${Math.round(tookMs / 1_000)} s, ${pressed} keys`);
    for (const [uncertaintyId, { answer }] of asked) {
      const { uncertainty } = await client.uncertainties.get({ workspaceId, uncertaintyId });
      const given = uncertainty.resolutions.map((resolution) => resolution.value);
      assert.deepEqual(given, [answer], uncertainty.title);
    }
    assert.ok(tookMs < CLEARED_MS_MAX, `took ${tookMs} ms`);
    assert.deepEqual(visit.troubles, []);
  });
});
