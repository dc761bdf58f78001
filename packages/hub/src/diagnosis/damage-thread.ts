import { parentPort, workerData } from 'node:worker_threads';
import { findSqliteDamage } from '../db/sqlite/sqlite-database.ts';

/** Runs in a thread of `findDamageBesideHub`, which gives the path and takes the first damage. */
const { path } = workerData as { path: string };
parentPort?.postMessage(findSqliteDamage(path, 'quick')[0] ?? null);
