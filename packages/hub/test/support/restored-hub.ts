import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pg from 'pg';
import type { EpochReport } from '../../src/backup/begin-epoch.ts';
import { type Config, readConfig } from '../../src/start/config.ts';
import { acceptRestore, backUpHub, restoreHub } from '../../src/start/operate.ts';
import { createManualClock } from './manual-clock.ts';
import { makeTempDir } from './temp-dir.ts';
import { databaseUrlOf, testEngine } from './test-engine.ts';
import { startTestHub, type TestHub } from './test-hub.ts';

/** A hub whose data are backed up and restored while its tests continue; on both engines. */
export interface RestorableHub {
  /** A hub on the data of before the restore. */
  start(): Promise<TestHub>;
  /** Keeps the data as they are now. Stop the hub before. */
  backUp(): Promise<void>;
  /** Restores the data in another place, as often as it is called. */
  restore(options?: { keepsTokens: boolean }): Promise<RestoredHub>;
}

export interface RestoredHub {
  report: EpochReport;
  /** A hub on the restored data. */
  start(): Promise<TestHub>;
}

export async function makeRestorable(t: TestContext): Promise<RestorableHub> {
  const dataDir = makeTempDir(t);
  const root = makeTempDir(t);
  // Tokens have to be live on the machine's clock, too.
  const clock = createManualClock(Date.now());
  // Of PostgreSQL, a database that no other session uses can be copied.
  const start = (config: Partial<Config> = {}) =>
    startTestHub(t, { dataDir, clock, config, newDatabase: testEngine === 'postgres' });
  // The database stays that of this directory between two hubs.
  const keeper = testEngine === 'postgres' ? await start() : null;
  await keeper?.hub.stop();
  if (testEngine === 'sqlite') {
    const backup = join(root, 'backup');
    const config = (at: string): Config => ({ ...readConfig({}), dataDir: at });
    let restores = 0;
    return {
      start,
      async backUp() {
        await backUpHub(config(dataDir), backup, { withKey: true });
      },
      async restore(options = { keepsTokens: false }) {
        restores += 1;
        const restored = join(root, `restored-${restores}`);
        const { epoch } = await restoreHub(config(restored), backup, options);
        return { report: epoch, start: () => startTestHub(t, { dataDir: restored, clock }) };
      },
    };
  }
  const url = await databaseUrlOf(dataDir);
  const copies: string[] = [];
  const name = new URL(url).pathname.slice(1);
  const copy = async (from: string, to: string) => {
    await ask(url, `CREATE DATABASE ${to} TEMPLATE ${from}`);
    copies.push(to);
  };
  t.after(async () => {
    for (const each of copies) await ask(url, `DROP DATABASE ${each} WITH (FORCE)`);
  });
  return {
    start,
    backUp: () => copy(name, `${name}_backup`),
    async restore(options = { keepsTokens: false }) {
      const restored = `${name}_${copies.length}`;
      await copy(`${name}_backup`, restored);
      const databaseUrl = Object.assign(new URL(url), { pathname: `/${restored}` }).href;
      const report = await acceptRestore({ ...readConfig({}), dataDir, databaseUrl }, options);
      return { report, start: () => start({ databaseUrl }) };
    },
  };
}

/** Runs a statement on the server of a database, from outside of it. */
async function ask(url: string, text: string): Promise<void> {
  const elsewhere = Object.assign(new URL(url), { pathname: '/postgres' }).href;
  const client = new pg.Client({ connectionString: elsewhere });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
