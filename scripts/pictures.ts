// `npm run pictures`: makes the pictures of the README from real processes, the demo in a terminal
// and a seeded console in a browser, and pictures of every page of the console to look at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { launchBrowser } from '../e2e/browser.ts';
import { takePagePictures } from './pictures/page-pictures.ts';
import { recordDemo } from './pictures/record-demo.ts';
import { takeScreenshots } from './pictures/screenshots.ts';
import { withConsole } from './pictures/seeded-console.ts';
import { drawMovie } from './pictures/terminal-movie.ts';

const usage = `Usage: npm run pictures [-- pages [part of a name]]

Without arguments: the pictures of the README, and those of every page. "pages": only the latter,
or those of the pages whose name has the part. They are written to dist-pictures/.
`;

const root = join(import.meta.dirname, '..');
const [part, filter = '', ...more] = process.argv.slice(2);
if ((part !== undefined && part !== 'pages') || more.length > 0) {
  process.stderr.write(usage);
  process.exit(2);
}
if (part === undefined) {
  mkdirSync(join(root, 'docs/media'), { recursive: true });
  const movie = join(root, 'docs/media/demo.svg');
  writeFileSync(movie, await drawMovie(await recordDemo(root)));
  say(movie);
}
const browser = await launchBrowser();
try {
  await withConsole(root, async (place) => {
    const taken = await takePagePictures(browser, place, join(root, 'dist-pictures'), filter);
    say(taken.overview);
    if (part !== undefined) return;
    const folder = join(root, 'docs/screenshots');
    const paths = await takeScreenshots(browser, place, taken.pages, folder);
    for (const path of paths) say(path);
  });
} finally {
  await browser.close();
}

function say(path: string): void {
  process.stdout.write(`Wrote ${relative(root, path)}\n`);
}
