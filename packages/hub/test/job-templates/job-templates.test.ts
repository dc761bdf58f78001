import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  endpoints,
  JOB_TEMPLATES_MAX,
  type JobTemplateValues,
  TEMPLATE_VALUES_CHARS_MAX,
} from '@signalbox/contract';
import { startQueueWorld } from '../support/queue-world.ts';

const { jobTemplates } = endpoints;

async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  const save = (name: string, values: JobTemplateValues) =>
    h.call(jobTemplates.save, { workspaceId, name, values });
  const list = async () => (await h.call(jobTemplates.list, { workspaceId })).templates;
  return { ...h, save, list };
}

test('a template is saved under its name, replaced and removed, and the audit log says so', async (t) => {
  const h = await setup(t);
  const { workspaceId, repoId } = h;
  const values = { repoId, kind: 'work', prompt: 'Mend {{area}}.', priority: -5 } as const;
  const { template } = await h.save('mend', values);
  assert.deepEqual(template.values, values);
  await h.save('Überblick', { variants: [{ tool: 'claude' }, { tool: 'codex' }] });
  await h.save('mend', { prompt: 'Mend it.', budget: { costUsd: 2 } });
  assert.deepEqual(
    (await h.list()).map(({ name, values }) => [name, values]),
    [
      ['mend', { prompt: 'Mend it.', budget: { costUsd: 2 } }],
      ['Überblick', { variants: [{ tool: 'claude' }, { tool: 'codex' }] }],
    ],
  );
  await h.call(jobTemplates.remove, { workspaceId, name: 'mend' });
  await h.call(jobTemplates.remove, { workspaceId, name: 'mend' });
  assert.deepEqual(
    (await h.list()).map(({ name }) => name),
    ['Überblick'],
  );
  const audited = await h.hub.database.reader.allSql<{ action: string; subject: string }>(
    `SELECT action, subject FROM audit_entries
     WHERE workspace_id = ? AND action LIKE 'job-template.%' ORDER BY seq`,
    [workspaceId],
  );
  assert.deepEqual(
    audited.map(({ action, subject }) => `${action} ${subject}`),
    [
      'job-template.save mend',
      'job-template.save Überblick',
      'job-template.save mend',
      'job-template.remove mend',
    ],
  );
});

test('a template of another form, size or repository is refused', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const refuse = (name: string, values: object, code: 'INVALID_REQUEST' | 'REPO_NOT_FOUND') =>
    h.refuse(jobTemplates.save, { workspaceId, name, values }, code);
  for (const name of ['', ' mend', 'mend ', 'two\nlines']) {
    await refuse(name, { prompt: 'Mend it.' }, 'INVALID_REQUEST');
  }
  await refuse('mend', { kind: 'nap' }, 'INVALID_REQUEST');
  await refuse('mend', { variants: [{}] }, 'INVALID_REQUEST');
  const long = 'x'.repeat(TEMPLATE_VALUES_CHARS_MAX);
  await refuse('mend', { requirements: long }, 'INVALID_REQUEST');
  await refuse('mend', { repoId: 'repo_1j78s1cg0003qjivc1oq' }, 'REPO_NOT_FOUND');
  assert.deepEqual(await h.list(), []);
});

test('at the limit a template can still be replaced', async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const names = Array.from({ length: JOB_TEMPLATES_MAX }, (_, at) => `no ${at}`);
  await Promise.all(names.map((name) => h.save(name, { prompt: 'Mend it.' })));
  const more = { workspaceId, name: 'one more', values: {} };
  await h.refuse(jobTemplates.save, more, 'LIMIT_REACHED');
  await h.save('no 7', { prompt: 'Changed.' });
  await h.call(jobTemplates.remove, { workspaceId, name: 'no 8' });
  await h.call(jobTemplates.save, more);
  assert.equal((await h.list()).length, JOB_TEMPLATES_MAX);
});
