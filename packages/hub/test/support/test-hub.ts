import type { TestContext } from 'node:test';
import type { Endpoint } from '@signalbox/contract';
import { Compile, type Validator } from 'typebox/compile';
import type { Clock } from '../../src/base/clock.ts';
import type { ReadFree } from '../../src/base/disk-space.ts';
import type { Database } from '../../src/db/engine.ts';
import type { PasswordHasher } from '../../src/people/passwords.ts';
import { createHub, type Hub } from '../../src/start/app.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { quickHasher } from './quick-hasher.ts';
import { makeTempDir } from './temp-dir.ts';
import { takeDatabase } from './test-engine.ts';
import { Visitor } from './visitor.ts';

export interface TestHubOptions<AnyClock extends Clock = Clock> {
  /** Default: one that stands still until the test turns it. */
  clock?: AnyClock;
  /** Settings that differ from the defaults. */
  config?: Partial<Config>;
  /** Default: a new one. Name that of a stopped hub to start on its data. */
  dataDir?: string;
  /** On PostgreSQL, a database that no other test has used. */
  newDatabase?: boolean;
  /** Default: one that costs nothing. */
  passwords?: PasswordHasher;
  /** Default: the disk has space. */
  readFreeSpace?: ReadFree;
  /** The built console. */
  consoleDir?: string;
}

export interface TestHub<AnyClock extends Clock = ManualClock> {
  hub: Hub;
  /** Where it listens. */
  address: string;
  clock: AnyClock;
  dataDir: string;
  database: Database;
  deps: Hub['deps'];
  passwords: PasswordHasher;
  /** A new browser or program, without cookies and token. */
  visitor(): Visitor;
}

const noLimits = { tokenRate: 0, workspaceRate: 0, addressRate: 0 };

/** SIGNALBOX_TEST_LOG_LEVEL=error shows why a hub answers 500. */
export const testLogLevel = process.env.SIGNALBOX_TEST_LOG_LEVEL ?? 'silent';

/**
 * Starts a hub in this process as `npm start` composes it, on a free port and on a real database of
 * the chosen engine. It ends with the test. All tests of the hub start here; the `…-world.ts` files
 * add people, workspaces and short calls.
 */
export async function startTestHub(
  t: TestContext,
  options?: TestHubOptions<ManualClock>,
): Promise<TestHub>;
export async function startTestHub<AnyClock extends Clock>(
  t: TestContext,
  options: TestHubOptions<AnyClock> & { clock: AnyClock },
): Promise<TestHub<AnyClock>>;
export async function startTestHub(
  t: TestContext,
  options: TestHubOptions = {},
): Promise<TestHub<Clock>> {
  const { clock = createManualClock(), passwords = quickHasher, consoleDir } = options;
  const dataDir = options.dataDir ?? makeTempDir(t);
  const taken = await takeDatabase(dataDir, options.newDatabase);
  const config: Config = {
    ...readConfig({ SVC_PORT: '0', SVC_LOG_LEVEL: testLogLevel }),
    // Tests send more than people do, and their clocks may stand still.
    ...noLimits,
    dataDir,
    ...taken.config,
    ...options.config,
  };
  const readFreeSpace = options.readFreeSpace ?? (async () => Number.MAX_SAFE_INTEGER);
  const parts = { config, clock, passwords, checkAnswer, readFreeSpace };
  const hub = await createHub({ ...parts, ...(consoleDir === undefined ? {} : { consoleDir }) });
  t.after(async () => {
    await hub.stop();
    await taken.release();
  });
  // Not `hub.baseUrl`, which a setting may name.
  const { address } = await hub.listen();
  const { database, deps } = hub;
  return {
    hub,
    address,
    clock,
    dataDir,
    database,
    deps,
    passwords,
    visitor: () => new Visitor(address),
  };
}

const validators = new Map<Endpoint, Validator>();

/** Every answer of every test must match the schema that documents it. */
export function checkAnswer(endpoint: Endpoint, answer: unknown): void {
  let validator = validators.get(endpoint);
  if (validator === undefined) {
    validator = Compile(endpoint.response);
    validators.set(endpoint, validator);
  }
  if (validator.Check(answer)) return;
  const [first] = validator.Errors(answer);
  throw new Error(`${endpoint.name} answers ${first?.instancePath} wrongly: ${first?.message}`);
}
