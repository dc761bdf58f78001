import { type ConformanceRow, type Section, sections } from './row.ts';
import { conformanceRows } from './rows.ts';
import { type ElsewhereRow, elsewhereRows } from './rows-elsewhere.ts';

const head = `# Conformance

<!-- Written by \`npm run conformance\` from the table in packages/hub/test/conformance. -->

Each statement of the [specification](reference/specification.md) of the control plane, and the test that
proves it. A test is named by its id and its statement; it calls a real hub over HTTP and uses no schema of
the contract package.

\`npm test -- conformance\` runs them all, and fails when this page differs from the table.
\`npm run conformance\` updates it.

Where the specification says "not shown", [the protocol](reference/protocol.md) decides. It also defines
extensions; those that agents depend on are the last section.
`;

/** The content of `docs/CONFORMANCE.md`. */
export function composePage(
  rows: readonly ConformanceRow[],
  elsewhere: readonly ElsewhereRow[],
): string {
  const count = `${rows.length + elsewhere.length} statements.`;
  const parts = sections.map((section) => composeSection(section, rows, elsewhere));
  return [head, `${count}\n`, ...parts].join('\n');
}

function composeSection(
  section: Section,
  rows: readonly ConformanceRow[],
  elsewhere: readonly ElsewhereRow[],
): string {
  const own = rows.filter((row) => row.section === section);
  const others = elsewhere.filter((row) => row.section === section);
  const lines = [
    ...own.map(({ id, statement }) => `| ${escapeText(statement)} | \`${id}\` |`),
    ...others.map(({ statement, test }) => {
      const name = test.split('/').at(-1) ?? '';
      return `| ${escapeText(statement)} | [${name}](../${test}) |`;
    }),
  ];
  return `## ${section}\n\n| statement | test |\n|---|---|\n${lines.join('\n')}\n`;
}

/** Escapes a statement, so that Markdown prints its characters as they are. */
function escapeText(text: string): string {
  return text.replace(/[\\|*_[\]`]/g, '\\$&').replaceAll('<', '&lt;');
}

if (import.meta.main) process.stdout.write(composePage(conformanceRows, elsewhereRows));
