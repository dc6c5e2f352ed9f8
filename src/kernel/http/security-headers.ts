import helmet from '@fastify/helmet';
import fastify from 'fastify';

/**
 * Helmet's headers for a service without pages. They are the same on every response, so helmet computes them only once.
 */
export async function securityHeaders(): Promise<Readonly<Record<string, string>>> {
  const sample = fastify();
  await sample.register(helmet, {
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  });
  sample.get('/', (_request, reply) => reply.send(Object.fromEntries(Object.entries(reply.raw.getHeaders()))));
  const headers = (await sample.inject('/')).json<Record<string, string>>();
  await sample.close();
  return Object.freeze(headers);
}
