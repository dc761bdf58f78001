import { buildOpenApi, endpointList, endpoints } from '@signalbox/contract';
import type { Api } from './bind.ts';
import { storeAnswer } from './stored-answer.ts';

/** The hub's judgement of itself; passed in by `app.ts`. */
interface Readiness {
  /** @throws HubError UNAVAILABLE with the reason */
  check(): Promise<void>;
}

/** Binds the checks of health and the OpenAPI document. */
export function bindHealthRoutes(
  api: Api,
  { readiness, baseUrl }: { readiness: Readiness; baseUrl: () => string },
): void {
  const { health } = endpoints;
  const check = async () => {
    await readiness.check();
    return {};
  };
  // A hub that cannot write is not healthy: a load balancer should use another one.
  api.bind(health.health, check);
  api.bind(health.ready, check);
  api.bind(health.live, async () => ({}));
  // Made at the first request: the base URL is known only once the hub listens, and making it would
  // slow the start. Kept as bytes, since it is large and needs no token.
  api.bindStored(health.openapi, () => {
    const document = buildOpenApi({
      // Rows of the console alone are not described.
      endpoints: endpointList.filter((row) => api.bound.includes(row)),
      baseUrl: baseUrl(),
    });
    return storeAnswer(Buffer.from(JSON.stringify(document)), {
      contentType: 'application/json; charset=utf-8',
      caching: 'no-cache',
      isCompressible: true,
    });
  });
}
