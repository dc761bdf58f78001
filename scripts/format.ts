// `npm run format`: formats the given paths (default: everything) and applies safe fixes.
import { join } from 'node:path';
import { runTool } from './build/tool-run.ts';

const startMs = performance.now();
const paths = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const clean = runTool(root, 'biome', ['check', '--write', ...(paths.length === 0 ? ['.'] : paths)]);
process.stdout.write(`Took ${((performance.now() - startMs) / 1_000).toFixed(1)} s.\n`);
process.exitCode = clean ? 0 : 1;
