import { errorCodes } from '@signalbox/contract';

/** Every error code with its status and condition, in Markdown. */
export function writeErrorPage(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, [status, condition]]) => `| \`${code}\` | ${status} | ${condition} |`,
  );
  return `# Error codes

A failure is \`{"ok": false, "error": CODE, "message": …, "requestId": …}\`, and \`details\` where they help.
The message says what to do. Codes are added, never renamed.

| code | status | condition |
|---|---|---|
${rows.join('\n')}
`;
}
