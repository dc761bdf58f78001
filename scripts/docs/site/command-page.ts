import { commandTable, exitMeanings, helpOf } from '@signalbox/cli';

/** Every command with its help, in Markdown. */
export async function writeCommandPage(): Promise<string> {
  const sections = await Promise.all(
    commandTable.map(async ({ words }) => {
      const help = await helpOf(words);
      return `## signalbox ${words.join(' ')}\n\n\`\`\`text\n${help.trim()}\n\`\`\``;
    }),
  );
  const exits = exitMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return `# Commands

\`signalbox help COMMAND\` prints the same.

${sections.join('\n\n')}

## Exit codes

| code | meaning |
|---|---|
${exits.join('\n')}
`;
}
