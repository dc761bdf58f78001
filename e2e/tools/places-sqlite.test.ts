import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { toolMissing } from './install-tool.ts';
import { type PlacesBench, SLOTS, startPlacesBench } from './places-bench.ts';

/* `npm run bench -- worktrees` measures the same with 20,000 files. */
for (const tool of ['claude', 'codex'] as const) {
  describe(`four jobs of the real ${tool} at once`, { skip: toolMissing(tool) }, () => {
    let places: PlacesBench;
    before(async () => {
      places = await startPlacesBench(tool, 200);
    });
    after(() => places?.close());

    it('have packages that were installed once, and ports of their own', async () => {
      const [first] = await places.run(1);
      assert.match(first?.log ?? '', /Set-up: npm ci .*: done in/);
      const jobs = await places.run(SLOTS);
      for (const { seen, log } of jobs) {
        assert.match(log, /Set-up: npm ci .*: copied from the cache/);
        assert.match(seen, /package\.json/);
      }
      const ports = jobs.flatMap(
        ({ seen }) => /(2\d{4})\\\\?\\?n(2\d{4})/.exec(seen)?.slice(1) ?? [],
      );
      assert.equal(new Set(ports).size, 2 * SLOTS, jobs.map(({ seen }) => seen).join('\n'));
      assert.ok(jobs.every(({ startMs }) => startMs > 0));
      places.bench.checkRequests();
    });
  });
}
