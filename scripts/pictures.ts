// `npm run pictures`: makes the pictures of the README from real processes: the demo in a terminal,
// and a seeded console in a browser.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { recordDemo } from './pictures/record-demo.ts';
import { takeScreenshots } from './pictures/screenshots.ts';
import { drawMovie } from './pictures/terminal-movie.ts';

const root = join(import.meta.dirname, '..');
const movie = join(root, 'docs/media/demo.svg');
const screenshots = join(root, 'docs/screenshots');

mkdirSync(join(root, 'docs/media'), { recursive: true });
writeFileSync(movie, await drawMovie(await recordDemo(root)));
say(movie);
for (const path of await takeScreenshots(root, screenshots)) say(path);

function say(path: string): void {
  process.stdout.write(`Wrote ${relative(root, path)}\n`);
}
