import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { PackSection } from '@signalbox/contract';
import { putMailAccount } from '../../src/context/mail/accounts.ts';
import { ConnectionSlots } from '../../src/context/mail/connection-slots.ts';
import { resolveRunPack } from '../../src/context/resolve-pack.ts';
import { startContextWorld } from './context-world.ts';
import { startDovecot } from './dovecot.ts';

/** The message that the pack's item is about. */
export const root = 'root@acme.dev';
const never = new AbortController().signal;

/** A hub, a mail server, and a pack with an item for the thread's first message. */
export async function startMailWorld(t: TestContext) {
  const context = await startContextWorld(t, { config: { allowPrivateHosts: ['localhost'] } });
  const server = await startDovecot(t);
  const { add, build, hub, workspaceId, runId } = context;
  const item = { kind: 'mail_message', source: 'mail', trust: 'external' } as const;
  await add({ ...item, text: 'The cached extract.', threadRef: `<${root}>`, sourceRef: root });
  await build();
  return {
    ...context,
    server,
    /** Adds the account of the server, or another one that differs from it. */
    addAccount: (draft: Partial<Parameters<typeof putMailAccount>[2]> = {}) =>
      putMailAccount(hub.deps, 'test', {
        workspaceId,
        name: 'ops',
        host: 'localhost',
        port: server.tlsPort,
        tlsMode: 'tls',
        caCertificate: server.certificate,
        userName: server.user,
        authKind: 'password',
        secret: server.password,
        ...draft,
      }),
    resolveFresh: () => context.resolve({ expansionHints: ['fresh_v1'] }),
    /** Resolves as the endpoint does, until the test ends the time limit. */
    resolveUntil: (limit: AbortSignal) =>
      resolveRunPack(
        {
          ...hub.deps,
          mail: {
            allowPrivateHosts: ['localhost'],
            totalMs: 700,
            endAfter: () => limit,
            connections: new ConnectionSlots(8),
          },
        },
        { workspaceId, runId, expansionHints: ['fresh_v1'], format: 'sections' },
        never,
      ),
  };
}

type Resolved = Awaited<ReturnType<typeof resolveRunPack>>;

export function assertLive({ sections, freshness }: Resolved): PackSection {
  const [section] = sections;
  assert.equal(freshness.threads[0]?.textKind, 'live', JSON.stringify(freshness));
  assert.ok(section?.textKind === 'live');
  assert.equal(section.trust, 'external');
  return section;
}

/** The cached extract is answered, and freshness says why in these words. */
export function assertCached({ sections, freshness }: Resolved, why: RegExp): void {
  const [section] = sections;
  assert.equal(section?.textKind, 'cached');
  assert.match(section?.text ?? '', /The cached extract\./);
  assert.equal(freshness.requested, true);
  assert.equal(freshness.threads[0]?.textKind, 'cached');
  assert.match(freshness.threads[0]?.message ?? '', why);
}

export function assertOrder(text: string, ...pieces: readonly string[]): void {
  let at = -1;
  for (const piece of pieces) {
    const next = text.indexOf(piece, at + 1);
    assert.ok(next > at, `${piece} comes next in ${text}`);
    at = next;
  }
}
