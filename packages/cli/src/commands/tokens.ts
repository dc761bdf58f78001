import { defineHubCommand } from '../hub/hub-command.ts';
import { formatAge, formatDuration } from '../terminal/duration.ts';
import { printTable } from '../terminal/table.ts';
import { oneLine } from '../terminal/text.ts';
import { readTokens } from '../words/token-list.ts';

interface Row {
  kind: string;
  name: string;
  of: string;
  scopes: string;
  used: string;
  expires: string;
  id: string;
}

/**
 * `signalbox tokens`: lists the tokens of programs and of machines, without the tokens themselves:
 * for owners and admins all, for others those of their own machines. With `--json`: `{ok,
 * serviceTokens, deviceTokens}`; serviceTokens is null for others.
 */
export const command = defineHubCommand({
  async run({ io, session }) {
    const { serviceTokens, deviceTokens } = await readTokens(session);
    if (io.json) return io.printJson({ ok: true, serviceTokens, deviceTokens });
    const nowMs = Date.now();
    const used = (at: string | null) => (at === null ? 'never' : formatAge(at, nowMs));
    const left = (at: string) => {
      const leftMs = Date.parse(at) - nowMs;
      return leftMs <= 0 ? 'expired' : formatDuration(leftMs);
    };
    const rows: Row[] = [
      ...(serviceTokens ?? []).map((token) => ({
        kind: 'program',
        name: token.name,
        of: token.createdBy,
        scopes: token.scopes.join(' '),
        used: used(token.lastUsedAt),
        expires: left(token.expiresAt),
        id: token.tokenId,
      })),
      ...deviceTokens.map((token) => ({
        kind: 'machine',
        name: token.machineName,
        of: token.personName,
        scopes: '',
        used: used(token.lastUsedAt),
        expires: left(token.expiresAt),
        id: token.tokenId,
      })),
    ];
    if (rows.length === 0) {
      io.print('No tokens.');
      return undefined;
    }
    const { dim, bold } = io.styles;
    printTable<Row>(
      io,
      [
        { title: 'KIND', text: ({ kind }) => kind },
        { title: 'NAME', text: ({ name }) => oneLine(name), style: bold, isFlexible: true },
        { title: 'ID', text: ({ id }) => id.slice(-8), style: dim },
        { title: 'USED', text: (row) => row.used },
        { title: 'EXPIRES', text: ({ expires }) => expires },
        { title: 'OWNER', text: ({ of }) => oneLine(of), style: dim, isOptional: true },
        { title: 'SCOPES', text: ({ scopes }) => scopes, style: dim, isOptional: true },
      ],
      rows,
    );
  },
});
