import { buildOpenApi, endpointList, endpoints } from '@signalbox/contract';
import type { Reader } from '../db/engine.ts';
import type { Api } from './bind.ts';

/** Binds the health check and the OpenAPI document. */
export function bindHealthRoutes(
  api: Api,
  { reader, version, baseUrl }: { reader: Reader; version: string; baseUrl: () => string },
): void {
  const { health } = endpoints;
  api.bind(health.health, async () => {
    // Without its database a hub is not healthy: a load balancer should use another one.
    await reader.firstSql('SELECT 1 AS one', []);
    return {};
  });
  // Built at the first request: the base URL is known only once the hub listens, and building it
  // would slow the start.
  let document: ReturnType<typeof buildOpenApi> | null = null;
  api.bind(
    health.openapi,
    async () => {
      document ??= buildOpenApi({
        // Rows of the console alone are not described.
        endpoints: endpointList.filter((row) => api.bound.includes(row)),
        baseUrl: baseUrl(),
        version,
      });
      return document;
    },
    { bare: true },
  );
}
