import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { SetupFileError } from '@signalbox/agent';
import { CliError } from '../src/cli-error.ts';
import {
  defaultConfigFile,
  planAgent,
  toolChoiceOf,
} from '../src/commands/agent/config/agent-plan.ts';
import { agentConfig } from '../src/commands/agent/config/config-keys.ts';
import { rowsOf } from '../src/commands/agent/config/config-text.ts';
import { parseSettings } from '../src/commands/agent/config/setting-reader.ts';
import { setupOf } from '../src/commands/agent/config/setup-options.ts';
import { makePlace, type Place } from './harness.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(async () => await place.end());

/** The mistakes of a text, one each line. */
function mistakesOf(...lines: string[]): string[] {
  try {
    parseSettings(lines.join('\n'), 'a.yaml', agentConfig);
  } catch (error) {
    assert.ok(error instanceof CliError);
    assert.equal(error.code, 'CONFIG_INVALID');
    return error.message.split('\n').map((line) => line.trim());
  }
  return [];
}

test('each mistake is one sentence with the file, the line, the key and what is allowed', () => {
  const cases: [lines: string[], sentence: string][] = [
    [
      ['jobs: 3', 'hold: 10', 'tool: {name: x, protocol: acp}'],
      'a.yaml:2: hold must be a time with a unit, such as 90s, 10m, 1h30m or 2d, not "10".',
    ],
    [['jobs: 0'], 'a.yaml:1: jobs must be an integer from 1 to 1000, not "0".'],
    [['', 'lease: 2d'], 'a.yaml:2: lease must be a time from 1s to 24h, not "2d".'],
    [['name:'], 'a.yaml:1: name must be a text, not empty.'],
    [['name: [a]'], 'a.yaml:1: name must be a text, not a list.'],
    [['fetch: yes'], 'a.yaml:1: fetch must be true or false, not "yes".'],
    [
      ['url: not a url'],
      'a.yaml:1: url must be the address of a hub, such as https://signalbox.acme.dev, not "not a url".',
    ],
    [
      ['tool: {name: x, protocol: acp}', 'share:', '  approvals: all'],
      'a.yaml:3: share.approvals must be one of full, command, digest, not "all".',
    ],
    [['labels: linux'], 'a.yaml:1: labels must be names with values, not "linux".'],
    [['repositories: ~/src'], 'a.yaml:1: repositories must be a list, not "~/src".'],
    [['repositories: []'], 'a.yaml:1: repositories must have at least one repository.'],
    [
      ['repositories:', '  - base: main'],
      'a.yaml:2: repositories[0] must have either path, a linked clone, or id.',
    ],
    [
      ['tool: {name: x}', 'repositories:', '  - path: a', '    permissions: [ask *]'],
      'a.yaml:4: repositories[0].permissions needs a tool that asks: see tool.protocol.',
    ],
    [
      ['tool: {name: claude, protocol: cli}', 'permissions: rules'],
      'a.yaml:2: permissions needs a tool that asks: see tool.protocol.',
    ],
    [['checks: npm test'], 'a.yaml:1: checks must be a list, not "npm test".'],
    [['checks:', '  - {name: a}'], 'a.yaml:2: checks[0] must have a command.'],
    [['setup: npm ci'], 'a.yaml:1: setup must be keys with values, not "npm ci".'],
    [
      ['setup:', '  copy: [../.env]'],
      'a.yaml:2: setup.copy[0] must be a path in the repository, such as .env, not "../.env".',
    ],
    [
      ['setup:', '  run: {command: npm ci, keep: [node_modules]}'],
      'a.yaml:2: setup.run must have a command, its key and what to keep.',
    ],
    [['setup: {from: origin}'], 'a.yaml:1: setup.from must be one of repository, not "origin".'],
    [
      ['setup:', '  from: repository', '  copy: [.env]', '  ports: 2'],
      'a.yaml:4: setup.ports comes from .signalbox/setup.json with setup.from; delete it here.',
    ],
    [['check-limit: 25h'], 'a.yaml:1: check-limit must be a time up to 24h, not "25h".'],
    [['tool:', '  acp: claude'], 'a.yaml:2: tool.acp is not a key here: it belongs in name.'],
    [
      ['tool:', '  name: codex', '  sandbox: read-only'],
      'a.yaml:3: tool.sandbox needs tool.name: codex and tool.protocol: cli.',
    ],
    [
      ['tool:', '  name: opencode', '  protocol: cli'],
      'a.yaml:3: tool.protocol must be acp for opencode.',
    ],
    [['tool: {name: ./x, effort: high}'], 'a.yaml:1: tool.effort needs tool.protocol: acp.'],
    [['tool: {name: x, model: y}'], 'a.yaml:1: tool.model does not reach a command; delete it.'],
    [
      ['tool: {command: x, prompt: pipe}'],
      'a.yaml:1: tool.prompt must be one of stdin, argument, file, not "pipe".',
    ],
    [['tool: {name: x, resume: y}'], 'a.yaml:1: tool.resume needs tool.command.'],
    [
      ['tool: {command: x, model: y}'],
      'a.yaml:1: tool.model does not go with tool.command; delete one of them.',
    ],
    [
      ['tool: {command: x, resume: "x {session}"}'],
      'a.yaml:1: tool.resume has {session}, so tool.session must say how to find the id.',
    ],
    [
      ['tool: {command: x, resume: x -c, session: "id: (.+)"}'],
      'a.yaml:1: tool.session needs {session} in tool.resume.',
    ],
    [
      ['tool: {command: "x {session}"}'],
      'a.yaml:1: tool.command has {session}, which belongs into tool.resume.',
    ],
    [
      ['tool: {command: x, name: my tool}'],
      'a.yaml:1: tool.name gives no name for jobs to ask for; set tool.name to letters, digits, dots and dashes.',
    ],
    [
      ['tool: {command: "$RUN x"}'],
      'a.yaml:1: tool.command gives no name for jobs to ask for; set tool.name to letters, digits, dots and dashes.',
    ],
    [
      ['isolation: wrap', 'tool: {command: x, resume: x -c}'],
      'a.yaml:2: tool.resume has no effect: with isolation: wrap, x finds none of its sessions again; delete this key.',
    ],
    [
      ['tool: {command: claude -p}', 'permissions: rules'],
      'a.yaml:2: permissions needs a tool that asks: see tool.protocol.',
    ],
    [
      ['environment:', '  SIGNALBOX_TOKEN: x'],
      'a.yaml:2: environment.SIGNALBOX_TOKEN does not reach jobs: Signalbox sets or removes it.',
    ],
    [
      ['environment:', '  GIT_DIR: x'],
      'a.yaml:2: environment.GIT_DIR does not reach jobs: Signalbox sets or removes it.',
    ],
    [['environment:', '  A B: x'], 'a.yaml:2: environment.A B must be the name of a variable.'],
    [
      ['tool: {name: x, protocol: acp}', 'permissions:', '  - allow read', '  - permit read'],
      'a.yaml:4: permissions[1] must be a rule: begin with allow, ask, refuse, ' +
        'such as: allow execute npm test*, not "permit read".',
    ],
    [['jobs: 1', 'jobs: 2'], 'a.yaml:2: Map keys must be unique.'],
    [
      ['jobs: [1'],
      'a.yaml:1: Flow sequence in block collection must be sufficiently indented and end with a ].',
    ],
    [['just words'], 'a.yaml:1: The file must be keys with values, not "just words".'],
    [['name: &a x', 'workspace: *a'], 'a.yaml:2: workspace must be a text, not an alias.'],
  ];
  for (const [lines, sentence] of cases) assert.deepEqual(mistakesOf(...lines), [sentence]);
});

test('the pattern of a session is a regular expression with one group', () => {
  for (const pattern of ['(id): (.+)', 'id: .+', 'id: (']) {
    const [sentence] = mistakesOf(
      `tool: {command: x, resume: "x {session}", session: "${pattern}"}`,
    );
    const allowed = 'a regular expression with one group, such as "session: (.+)"';
    assert.equal(sentence, `a.yaml:1: tool.session must be ${allowed}, not "${pattern}".`);
  }
});

test('an unknown key is refused with the nearest key, or with where it belongs', () => {
  const cases: [lines: string[], sentence: string][] = [
    [['job: 3'], 'a.yaml:1: job is not a known key; did you mean jobs?'],
    [['time_limit: 3h'], 'a.yaml:1: time_limit is not a known key; did you mean time-limit?'],
    [
      ['tool:', '  protocl: acp'],
      'a.yaml:2: tool.protocl is not a known key; did you mean protocol?',
    ],
    [['protocol: acp'], 'a.yaml:1: protocol is not a key here: it belongs under tool.'],
    [
      ['repositories:', '  - path: a', '    jobs: 2'],
      'a.yaml:3: repositories[0].jobs is not a key here: it belongs at the top of the file, to the agent as a whole.',
    ],
    [
      ['share: {colour: red}', 'tool: {name: x, protocol: acp}'],
      'a.yaml:1: share.colour is not a known key; the keys here are approvals, changes.',
    ],
  ];
  for (const [lines, sentence] of cases) assert.deepEqual(mistakesOf(...lines), [sentence]);
});

test('all mistakes of a file are reported at once, in the order of its lines', () => {
  assert.deepEqual(mistakesOf('jobs: many', 'hoks: x', 'read-only: 1'), [
    'a.yaml:1: jobs must be an integer from 1 to 1000, not "many".',
    'a.yaml:2: hoks is not a known key; did you mean hooks?',
    'a.yaml:3: read-only must be true or false, not "1".',
  ]);
});

test('an empty file, and one of comments, configure nothing', () => {
  assert.deepEqual(mistakesOf(''), []);
  assert.deepEqual(mistakesOf('# nothing yet'), []);
});

/** Without the settings that are absent. */
function choiceOf(...args: Parameters<typeof toolChoiceOf>) {
  return JSON.parse(JSON.stringify(toolChoiceOf(...args)));
}

async function configure(...lines: string[]): Promise<string> {
  const file = defaultConfigFile(place.env);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, lines.join('\n'));
  return file;
}

test('flags go before the file, and the file before the defaults', async () => {
  const file = await configure('jobs: 3', 'labels: {gpu: yes, os: linux}', 'lease: 2m');
  const plan = await planAgent({ jobs: 5, label: { os: 'bsd' } }, place.env);
  assert.deepEqual(plan.jobs, { value: 5, from: '--jobs' });
  assert.deepEqual(plan.lease, { value: 120_000, from: `${file}:3` });
  assert.deepEqual(plan.timeLimit, { value: 21_600_000, from: 'default' });
  assert.deepEqual(plan.labels, {
    gpu: { value: 'yes', from: `${file}:2` },
    os: { value: 'bsd', from: '--label' },
  });
});

test('a repository has its own tool, time and environment; the rest is as for all', async () => {
  await configure(
    ...['tool:', '  name: claude', '  model: opus', 'hold: 10m', 'base: origin/main'],
    ...['permissions: [ask fetch]', 'environment: {CI: 1, A: all}'],
    ...['repositories:', '  - path: ~/api', '    hold: 1m', '    environment: {A: own}'],
    ...['    permissions: [allow execute make]', '    share: {changes: patch}'],
    ...['  - id: repo_2', '    tool: {name: codex, protocol: cli, sandbox: read-only}'],
  );
  const plan = await planAgent({}, place.env);
  const [api, other] = plan.repositories ?? [];
  assert.ok(api && other);
  assert.equal(api.reference.value, join(homedir(), 'api'));
  assert.equal(api.plan.base?.value, 'origin/main');
  assert.deepEqual([api.plan.hold.value, other.plan.hold.value], [60_000, 600_000]);
  const { environment } = api.plan;
  assert.deepEqual([environment.CI?.value, environment.A?.value], ['1', 'own']);
  const rule = { agent: null, repository: null };
  assert.deepEqual(choiceOf(api.plan), {
    name: 'claude',
    model: 'opus',
    shareChanges: 'patch',
    permissions: [
      { rules: [{ verdict: 'allow', what: 'execute', pattern: 'make', ...rule }] },
      { rules: [{ verdict: 'ask', what: 'fetch', pattern: '', ...rule }] },
    ],
  });
  // The tool is replaced as a whole, and what only a tool with questions has does not reach it.
  assert.deepEqual(choiceOf(other.plan), {
    name: 'codex',
    protocol: 'cli',
    sandbox: 'read-only',
  });
});

test('a flag that names a tool replaces the tool of the file, other flags change it', async () => {
  await configure('tool: {name: claude, model: opus}', 'hold: 10m');
  const changed = await planAgent({ model: 'haiku' }, place.env);
  assert.equal(choiceOf(changed.general).name, 'claude');
  assert.equal(choiceOf(changed.general).model, 'haiku');
  const replaced = await planAgent({ tool: './fix.sh' }, place.env);
  assert.deepEqual(choiceOf(replaced.general), { name: './fix.sh' });
});

test('checks of a repository replace those of all, and a flag replaces both', async () => {
  await configure(
    ...['checks: [npm test]', 'check-limit: 2m', 'repositories:', '  - id: repo_1'],
    ...['  - id: repo_2', '    checks:', '      - {command: make, name: all, time-limit: 1m}'],
  );
  const checksOf = async (options: Parameters<typeof planAgent>[0]) => {
    const { repositories } = await planAgent(options, place.env);
    return repositories?.map(({ plan }) => plan.checks.map(({ value }) => value));
  };
  const own = { command: 'make', name: 'all', timeLimitMs: 60_000 };
  assert.deepEqual(await checksOf({}), [[{ command: 'npm test' }], [own]]);
  const fromFlag = [{ command: 'true' }];
  assert.deepEqual(await checksOf({ check: ['true'] }), [fromFlag, fromFlag]);
});

test('the set-up of a repository replaces that of all, and each of its steps is shown', async () => {
  const file = await configure(
    ...['setup: {run: make}', 'repositories:', '  - id: repo_1', '  - id: repo_2', '    setup:'],
    ...[
      '      copy: [.env, a/b]',
      '      run:',
      '        - {command: npm ci, key: [package-lock.json], keep: [node_modules]}',
    ],
    ...['        - npm run build', '      ports: 2', '      database: true'],
    ...['      teardown: make down'],
  );
  const plan = await planAgent({}, place.env);
  const own = rowsOf(plan).filter(({ key }) => key.startsWith('setup.'));
  assert.deepEqual(own, [
    { repository: null, key: 'setup.run', value: 'make', from: `${file}:1` },
    ...[
      ['setup.copy', '.env', 6],
      ['setup.copy', 'a/b', 6],
      ['setup.run', 'npm ci (keeps node_modules by package-lock.json)', 8],
      ['setup.run', 'npm run build', 9],
      ['setup.ports', '2', 10],
      ['setup.database', 'true', 11],
      ['setup.teardown', 'make down', 12],
    ].map(([key, value, line]) => ({ repository: 'repo_2', key, value, from: `${file}:${line}` })),
  ]);
  assert.deepEqual(Object.keys(plan.repositories?.[1]?.plan.setup ?? {}), [
    'copy',
    'run',
    'ports',
    'database',
    'teardown',
  ]);
});

test('the set-up of a commit has the rules of the file, and names no file of the clone', () => {
  const steps = {
    run: ['make', { command: 'npm ci', key: ['package-lock.json'], keep: ['node_modules'] }],
    ports: 2,
    database: true,
    teardown: 'make down',
  };
  const readSteps = setupOf({ from: { value: 'repository', from: 'a.yaml:1' } }).readSteps;
  assert.deepEqual(readSteps?.(JSON.stringify(steps, null, 2)), {
    ...steps,
    run: [{ command: 'make' }, steps.run[1]],
    teardown: ['make down'],
  });
  const file = '.signalbox/setup.json';
  const cases: [text: string, sentence: string][] = [
    ['{\n"ports": 21}', `${file}:2: ports must be an integer from 0 to 20, not "21".`],
    [
      '{"run": [{"command": "x", "key": ["a"], "keep": ["../b"]}]}',
      `${file}:1: run[0].keep[0] must be a path in the repository, such as .env, not "../b".`,
    ],
    [
      '{"copy": [".env"]}',
      `${file}:1: copy is not a key here: it belongs under setup in agent.yaml, because it names ` +
        'files of the clone.',
    ],
    ['{"hooks": "x"}', `${file}:1: hooks is not a known key; the keys here are run, ports, `],
    ['{"ports": 1, "ports": 2}', `${file}:1: Map keys must be unique.`],
    ['[]', `${file}:1: The file must be keys with values, not a list.`],
    ['run: make', `${file} is not valid JSON.`],
    ['', `${file} is not valid JSON.`],
  ];
  for (const [text, sentence] of cases) {
    assert.throws(
      () => readSteps?.(text),
      (error: Error) => error instanceof SetupFileError && error.message.startsWith(sentence),
      text,
    );
  }
});

test('paths are relative to the file', async () => {
  const file = await configure(
    'hooks: hooks',
    'tool: {name: x, protocol: acp}',
    'permissions: rules',
  );
  const plan = await planAgent({}, place.env);
  assert.equal(plan.hooks?.value, join(file, '../hooks'));
  assert.deepEqual(plan.general.permissions[0]?.value, { file: join(file, '../rules') });
});

test('as many worktrees are kept as jobs run at a time, unless the file says otherwise', async () => {
  await configure('jobs: 3');
  assert.equal((await planAgent({}, place.env)).warmWorktrees.value, 3);
  assert.equal((await planAgent({ jobs: 2 }, place.env)).warmWorktrees.value, 2);
  await configure('jobs: 3', 'warm-worktrees: 0');
  assert.equal((await planAgent({}, place.env)).warmWorktrees.value, 0);
});

test('isolation is a rung, and paths to read need a wrap', async () => {
  assert.equal((await planAgent({}, place.env)).isolation.from, 'default');
  await configure('isolation: wrap', 'readable: [~/.npmrc, tools]');
  const { isolation, readable } = await planAgent({}, place.env);
  assert.deepEqual(isolation, { value: 'wrap', from: `${defaultConfigFile(place.env)}:1` });
  assert.deepEqual(
    readable.map(({ value }) => value),
    [join(homedir(), '.npmrc'), join(defaultConfigFile(place.env), '../tools')],
  );
  assert.match(mistakesOf('isolation: moat')[0] ?? '', /isolation must be one of auto, user, tool/);
  assert.match(mistakesOf('readable: [~/.npmrc]')[0] ?? '', /readable needs isolation: wrap/);
});

test('values of the environment are not shown', async () => {
  await configure('environment: {API_KEY: hidden}');
  const rows = rowsOf(await planAgent({}, place.env));
  assert.equal(rows.find(({ key }) => key === 'environment.API_KEY')?.value, null);
  assert.ok(!JSON.stringify(rows).includes('hidden'));
});

test('agent start --dry-run shows what is in force, and exits with 2 for a file with mistakes', async () => {
  const file = await configure('jobs: 3', 'tool: {name: ./fix.sh}');
  const shown = await place.run(['agent', 'start', '--dry-run', '--name', 'box', '--json']);
  assert.equal(shown.exitCode, 0, shown.stderr);
  const { settings, ...rest } = JSON.parse(shown.stdout);
  assert.deepEqual(rest, { ok: true, file });
  const find = (key: string) => settings.find((row: { key: string }) => row.key === key);
  assert.deepEqual(find('jobs'), { repository: null, key: 'jobs', value: '3', from: `${file}:1` });
  assert.equal(find('name').from, '--name');
  assert.equal(find('hold').value, '5m');
  const table = await place.run(['agent', 'start', '--dry-run']);
  assert.match(table.stdout, /tool\.name +\.\/fix\.sh +line 2/);
  await configure('jobs: 3', 'tols: {}');
  const { exitCode, stderr } = await place.run(['agent', 'start']);
  assert.equal(exitCode, 2);
  assert.match(stderr, /agent\.yaml:2: tols is not a known key; did you mean tool\?/);
});

test('the page of the file names every key, and its example has no mistake', async () => {
  const page = join(import.meta.dirname, '../../../docs/reference/agent-configuration.md');
  const text = await readFile(page, 'utf8');
  const [, example] = /^```yaml\n(.*?)^```/ms.exec(text) ?? [];
  assert.ok(example);
  assert.deepEqual(mistakesOf(...example.split('\n')), []);
  const missing = keysOf(agentConfig).filter((key) => !text.includes(`\`${key}\``));
  assert.deepEqual(missing, [], 'These keys are missing in the page.');
});

/** The keys as the page names them: those of `share` with its name, the others alone. */
function keysOf({ keys }: { keys: object }, above = ''): string[] {
  return Object.entries(keys).flatMap(([name, setting]) => {
    const key = above === 'share' ? `share.${name}` : name;
    const inner = 'keys' in setting ? keysOf(setting, name) : [];
    return inner.length > 0 && name === 'share' ? inner : [key, ...inner];
  });
}
