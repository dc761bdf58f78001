// `npm run postgres`: a PostgreSQL to try things on, until Ctrl-C; its data goes with it.
import { LocalPostgresError, startLocalPostgres } from '@signalbox/local-postgres';

try {
  const server = await startLocalPostgres({ durable: true });
  process.stdout.write(
    `PostgreSQL listens. For a hub on it, and for tests on it:\n` +
      `  SVC_DATABASE_URL=${server.url} npm start\n` +
      `  SVC_TEST_DATABASE_URL=${server.url} npm test\n` +
      'It ends with Ctrl-C, and its data with it.\n',
  );
  const ended = Promise.withResolvers<void>();
  // Nothing else keeps this process alive.
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
