// The upper limit: the hub's own framework and a POST whose body is validated, without any work.
import fastify from 'fastify';

const text = { type: 'string', minLength: 1, maxLength: 200_000 };
const server = fastify();
server.post(
  '/no-op',
  {
    schema: {
      body: {
        type: 'object',
        required: ['workspaceId', 'repoId', 'kind', 'prompt'],
        properties: { workspaceId: text, repoId: text, kind: text, prompt: text },
      },
      response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } },
    },
  },
  async () => ({ ok: true }),
);
const address = await server.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`listens on ${address}\n`);
process.once('SIGTERM', () => process.exit(0));
