import type { Section } from './row.ts';

/** A statement that requests to one hub cannot prove, and the test that does. */
export interface ElsewhereRow {
  section: Section;
  /** In the words of the specification. */
  statement: string;
  /** Path of the test, from the root of the project. */
  test: string;
}

/** Statements of the specification about clients and about servers other than the hub. */
export const elsewhereRows: readonly ElsewhereRow[] = [
  {
    section: 'What the service does',
    statement: 'Execute the job locally.',
    test: 'e2e/03-main-job.test.ts',
  },
  {
    section: 'Resources and their fields',
    statement: 'Repository: the URL itself is never sent.',
    test: 'e2e/03-main-job.test.ts',
  },
  {
    section: 'Resources and their fields',
    statement:
      'Context pack: resolving returns live content fetched from integrations (a mail thread of a ' +
      'real server).',
    test: 'packages/hub/test/context/mail/mail-live-sqlite.test.ts',
  },
  {
    section: 'Authentication',
    statement:
      "Device login token: obtained by the client's login command, which runs the device flow; the " +
      "client stores the token in a local file under the user's home directory.",
    test: 'e2e/02-device-login-sqlite.test.ts',
  },
  {
    section: 'Authentication',
    statement: 'Dev-only unauthenticated mode: local development only.',
    test: 'e2e/04-refused-start-sqlite.test.ts',
  },
  {
    section: 'Authentication',
    statement: "Token revocation: used by the client's logout.",
    test: 'e2e/02-device-login-sqlite.test.ts',
  },
];
