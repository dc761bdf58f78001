import { migrations, startFromEnvironment } from '@signalbox/hub';

/* A hub of the next version of Signalbox: this one, with a migration that adds columns. */

await startFromEnvironment({
  migrations: [
    ...migrations,
    {
      version: (migrations.at(-1)?.version ?? 0) + 1,
      name: 'next',
      statements: () => [
        "ALTER TABLE queue_entries ADD COLUMN later_thing TEXT DEFAULT 'x'",
        'ALTER TABLE jobs ADD COLUMN later_thing TEXT',
        'ALTER TABLE job_events ADD COLUMN later_thing BIGINT',
        'ALTER TABLE agents ADD COLUMN later_thing TEXT',
      ],
    },
  ],
});
