import { type ConformanceRow, type Section, sections } from './row.ts';
import { conformanceRows } from './rows.ts';
import { type ElsewhereRow, elsewhereRows } from './rows-elsewhere.ts';

const head = `# Conformance

<!-- Written by \`npm run conformance\` from the table in packages/hub/test/conformance. -->

Each statement of the specification of the control plane, and the test that holds the hub to it. A test of
this page is named by its id and its statement; it speaks HTTP to a real hub and knows no schema of ours.

\`npm test -- conformance\` runs them all, and fails when this page is not what the table says.
\`npm run conformance\` writes it anew.

Where the specification says "not shown", there is nothing to hold; what this hub does there is in its
description, at \`/control-plane/openapi.json\`.
`;

/** The page, as `docs/CONFORMANCE.md` holds it. */
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

/** A statement is text: what Markdown would take for markup in it stands as it is. */
function escapeText(text: string): string {
  return text.replace(/[\\|*_[\]`]/g, '\\$&').replaceAll('<', '&lt;');
}

if (import.meta.main) process.stdout.write(composePage(conformanceRows, elsewhereRows));
