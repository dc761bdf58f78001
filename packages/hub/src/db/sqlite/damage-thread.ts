import { parentPort, workerData } from 'node:worker_threads';
// Nothing else: with the rest of the hub's SQLite, the thread would load a thousand files.
import { findSqliteDamage } from './sqlite-damage.ts';

/** Runs in a thread of `findDamageBesideHub`, which gives the path and takes the first damage. */
const { path } = workerData as { path: string };
parentPort?.postMessage(findSqliteDamage(path, 'quick')[0] ?? null);
