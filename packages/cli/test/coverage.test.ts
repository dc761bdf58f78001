import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { consoleEndpoints, type Endpoint, endpoints } from '@signalbox/contract';

/**
 * Why a row of the contract needs neither a command nor a page. A row that gets one meanwhile needs
 * no reason any more: remove it here.
 */
const reasons: Readonly<Record<string, string>> = {
  'health.live': 'For probes of the machine that runs the hub.',
  'health.ready': 'For probes and load balancers.',
  'health.openapi': 'For programs; the documentation of the hub shows it.',
  'devices.start': 'signalbox login, through runDeviceLogin of the SDK.',
  'devices.poll': 'signalbox login, through runDeviceLogin of the SDK.',
  'jobs.cancel': 'signalbox job cancel, through jobs/bulk.',
  'jobs.release': 'signalbox job release, through jobs/bulk.',
  'uploads.storeBytes': 'A signed URL, which uploads/create hands out.',
  'uploads.readBytes': 'A signed URL, which uploads/get-download-url hands out.',
  'integrations.ingest': 'For the systems that send events.',
  'integrations.chatEvents': 'For the chat service.',
  'uncertainties.createWithAutoPromotion': 'For tools and agents: people answer.',
  'cloudAiJobs.enqueue': 'For programs: the call of a model is not the work of a person.',
  'cloudAiJobs.get': 'For programs that enqueue such calls.',
  'runs.upsertV1': 'For programs that plan runs.',
  'integrationEvents.replay': 'For programs; at the console a trigger is tested instead.',
  'reviewComments.list': 'Its command and its page come next.',
  'reviewComments.save': 'Its command and its page come next.',
  'reviewComments.remove': 'Its page comes next.',
  'reviewComments.resolve': 'Its command and its page come next.',
  'reviewComments.answer': 'Its agent comes next.',
  'uploads.create': 'For programs; people attach files at the console later.',
};

const packages = join(import.meta.dirname, '../..');

function sourceOf(name: string): string {
  const directory = join(packages, name, 'src');
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('\n');
}

interface Row {
  name: string;
  group: string;
  verb: string;
}

function rowsOf(table: Readonly<Record<string, Readonly<Record<string, Endpoint>>>>): Row[] {
  return Object.entries(table).flatMap(([group, rows]) =>
    Object.keys(rows).map((verb) => ({ name: `${group}.${verb}`, group, verb })),
  );
}

const rows = [...rowsOf(endpoints), ...rowsOf(consoleEndpoints)];

/** Says who calls each row. The commands of agents call the agent's package. */
function callersOf({ group, verb }: Row): string[] {
  const dotted = new RegExp(`\\.${group}\\.${verb}\\b`);
  const path = new RegExp(`endpointPaths\\.${group}\\.${verb}\\b`);
  const quoted = new RegExp(`'${group}',\\s*'${verb}'`);
  return [
    ...(dotted.test(commands) ? ['command'] : []),
    ...(quoted.test(pages) || path.test(pages) ? ['page'] : []),
    ...(dotted.test(agent) ? ['agent'] : []),
  ];
}
const commands = sourceOf('cli');
const pages = sourceOf('console');
const agent = sourceOf('agent');

test('every row of the contract has a command, a page of the console, or a written reason', () => {
  const bare = rows.filter((row) => callersOf(row).length === 0 && reasons[row.name] === undefined);
  assert.deepEqual(
    bare.map(({ name }) => name),
    [],
    'Add a command or a page, or say in this file why it needs none.',
  );
});

test('rows that people need in a terminal are called by commands', () => {
  const needed = ['list', 'get', 'addResolution'].map((verb) => `uncertainties.${verb}`);
  const others = ['jobs.bulk', 'jobs.retry', 'jobs.continue'];
  const logs = ['jobs.log', 'jobs.searchLog', 'jobs.downloadLog'];
  const queue = ['queue.pause', 'queue.resume', 'queue.listPauses'];
  for (const name of [...needed, ...others, ...logs, ...queue]) {
    const row = rows.find((each) => each.name === name);
    assert.ok(row !== undefined && callersOf(row).includes('command'), name);
  }
});

test('every reason is about a row that exists', () => {
  const names = new Set(rows.map(({ name }) => name));
  for (const name of Object.keys(reasons)) assert.ok(names.has(name), name);
});
