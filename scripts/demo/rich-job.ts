// A job whose page shows everything: a long log with groups, checks, counted files and a patch.
import type { SeedJob } from './seed.ts';

const patch = `diff --git a/src/health.ts b/src/health.ts
new file mode 100644
index 0000000..6e7f8a9
--- /dev/null
+++ b/src/health.ts
@@ -0,0 +1,6 @@
+import type { Server } from './server.ts';
+
+/** Answers 200 while the database answers, and 503 with the cause otherwise. */
+export function serveHealth(server: Server): void {
+  server.get('/health', async () => ({ ok: await server.database.isReachable() }));
+}
diff --git a/src/server.ts b/src/server.ts
index 2b3c4d5..6e7f8a9 100644
--- a/src/server.ts
+++ b/src/server.ts
@@ -12,6 +12,7 @@ export function startServer(config: Config) {
   const server = createServer(config);
   serveOrders(server);
   serveCustomers(server);
-  // The health check comes later.
+  serveHealth(server);
+  serveReadiness(server);
   return server.listen(config.port);
 }
diff --git a/docs/status.md b/docs/health.md
similarity index 100%
rename from docs/status.md
rename to docs/health.md
`;

const log = [
  '::group::Install',
  ...Array.from({ length: 60 }, (_, at) => `added package-${at + 1}@1.${at}.0 in ${at + 3} ms`),
  '::endgroup::',
  '::group::Test',
  ...Array.from(
    { length: 120 },
    (_, at) =>
      `\u001b[32m✓\u001b[39m orders.test.ts › case ${at + 1} \u001b[2m(${at % 17} ms)\u001b[22m`,
  ),
  '\u001b[31m✗\u001b[39m health.test.ts › answers 503 without a database',
  '  Error: expected 503, got 200',
  '::endgroup::',
  'Fixing src/health.ts',
  '\u001b[32m✓ 232 tests\u001b[39m',
];

export const richJob: SeedJob = {
  repository: 'acme/api',
  prompt:
    'Add a health check.\n\nIt answers at /health, with 503 while the database is unavailable. ' +
    'Say in docs/health.md what a load balancer does with it.',
  log,
  course: {
    status: 'ended',
    patch: { text: patch, filesOmitted: 1 },
    result: {
      outcome: 'done',
      message:
        'Added **GET /health**, with a test:\n\n- `200` while the database answers\n- `503` otherwise',
      evidence: {
        commitSha: '9f2b8e1c7d6a5f4e3d2c1b0a9f8e7d6c5b4a3928',
        baseSha: '4c1d0a7f5b9e2d3c8a6f1e0b7d5c4a3928171605',
        branch: 'signalbox/9f2b8e1c',
        changedFiles: ['src/health.ts', 'src/server.ts', 'docs/health.md'],
        files: [
          { path: 'src/health.ts', added: 6, deleted: 0 },
          { path: 'src/server.ts', added: 2, deleted: 1 },
          { path: 'docs/health.md', added: 0, deleted: 0 },
        ],
        verdict: 'verified',
        checks: [
          { name: 'types', command: 'npx tsc', outcome: 'passed', exitCode: 0, durationMs: 8_200 },
          {
            name: 'tests',
            command: 'npm test',
            outcome: 'passed',
            exitCode: 0,
            durationMs: 41_000,
          },
        ],
      },
      usage: { inputTokens: 48_211, outputTokens: 3_120, costUsd: 0.41, model: 'demo-model' },
    },
  },
};
