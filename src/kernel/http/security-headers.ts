import helmet from '@fastify/helmet';
import fastify from 'fastify';

/**
 * Helmet's headers for a service that serves no pages. They are the same on every reply, and helmet would work them out
 * anew for each: it is asked once.
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
