// Writes the documentation site into a folder: node scripts/docs/site/main.ts FOLDER
import { join } from 'node:path';
import { writeSite } from './write-site.ts';

const [outDir] = process.argv.slice(2);
if (outDir === undefined) throw new Error('give the folder to write into');
await writeSite(join(import.meta.dirname, '../../..'), outDir);
