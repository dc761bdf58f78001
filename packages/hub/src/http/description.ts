import { buildOpenApi, endpointList, endpoints } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import type { Api } from './bind.ts';

/** Health, and the description of what this hub answers. */
export function bindDescription(
  api: Api,
  { reader, version, baseUrl }: { reader: Reader; version: string; baseUrl: () => string },
): void {
  const { health } = endpoints;
  api.bind(health.health, async () => {
    // A hub without its database answers, but not healthily: a balancer should look elsewhere.
    await reader.firstSql('SELECT 1 AS one', []);
    return {};
  });
  // Built at the first request: the base URL is known once the hub listens, and a start need not
  // wait for it.
  let document: ReturnType<typeof buildOpenApi> | null = null;
  api.bind(
    health.openapi,
    async () => {
      document ??= buildOpenApi({
        // The console's own rows are nobody else's business.
        endpoints: endpointList.filter((row) => api.bound.includes(row)),
        baseUrl: baseUrl(),
        version,
      });
      return document;
    },
    { bare: true },
  );
}
