import { join } from 'node:path';
import { cleanEnvironment, startChild } from '../child.ts';
import { prompt } from '../load/request-text.ts';
import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, runLoad } from '../load-process.ts';

/** Sends requests of an enqueue's size to a no-op server, from the same generator. */
export async function measureNoOp(connections: number, span: SpanSpec): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'no-op-server.ts');
  const server = await startChild(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: cleanEnvironment({ NODE_ENV: 'production' }),
  });
  try {
    const [, url = ''] = await server.waitFor(/^listens on (\S+)$/m);
    const { hostname: host, port } = new URL(url);
    const id = 'ws_1j78s1o000001';
    const body = { workspaceId: id, repoId: id, kind: 'work', prompt };
    return await runLoad(
      {
        kind: 'post',
        ...{ targets: [{ host, port: Number(port) }], path: '/no-op', connections },
        ...{ token: 'sbx_s_none', bodies: [JSON.stringify(body)], ...span },
      },
      { server: server.pid },
    );
  } finally {
    await server.stop();
  }
}
