import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawMovie } from '../terminal-movie.ts';

test('a recording becomes frames with its colours, and long pauses are shortened', async () => {
  const svg = await drawMovie({
    columns: 20,
    rows: 3,
    parts: [
      { atMs: 0, text: '$ run <it>\r\n' },
      { atMs: 60_000, text: '\x1b[32m✔\x1b[0m done\r\n' },
    ],
  });
  assert.match(svg, /\$ run &lt;it&gt;/);
  assert.match(svg, /<tspan x="0\.0" textLength="8\.4" class="c2">✔<\/tspan>/);
  assert.equal(svg.match(/<g transform/g)?.length, 2);
  assert.match(svg, /animation:play 7\.20s/, 'a minute of waiting takes 1.2 s');
  assert.match(svg, /16\.667%\{transform:translateX\(-204px\)\}/);
});

test('a line that many frames show is drawn once', async () => {
  const parts = Array.from({ length: 5 }, (_, index) => ({
    atMs: index * 100,
    text: `${index}\r\n`,
  }));
  const svg = await drawMovie({ columns: 10, rows: 6, parts });
  assert.equal(svg.match(/<text id/g)?.length, 5);
});
