// `npm run postgres`: runs a temporary PostgreSQL until Ctrl-C; its data is removed at the end.
import { LocalPostgresError, startLocalPostgres } from '@signalbox/local-postgres';

try {
  const server = await startLocalPostgres({ durable: true });
  process.stdout.write(
    `PostgreSQL is running. To use it for a hub or for tests:\n` +
      `  SVC_DATABASE_URL=${server.url} npm start\n` +
      `  SVC_TEST_DATABASE_URL=${server.url} npm test\n` +
      'Press Ctrl-C to stop it and remove its data.\n',
  );
  const ended = Promise.withResolvers<void>();
  // Keeps this process alive.
  const alive = setInterval(() => undefined, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, ended.resolve);
  await ended.promise;
  clearInterval(alive);
  await server.stop();
} catch (error) {
  if (!(error instanceof LocalPostgresError)) throw error;
  process.stderr.write(`signalbox: ${error.message}\n`);
  process.exitCode = 1;
}
