import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, errorHeaders, toAppError, toGraphQLError } from '../errors.js';
import type { GraphQLContext } from '../graphql/apollo.js';
import { malformedGraphQL } from '../graphql/coded-errors.js';
import type { Gate } from '../graphql/gate/gate.js';
import { asksOnlyForSchema } from '../graphql/introspection.js';
import type { RateLimits } from '../limits/rate-limits.js';
import { noteError } from './error-replies.js';

/**
 * Makes the Context of a request, or the anonymous one when it carries no token or nobody asks for one.
 *
 * @throws the TOKEN_* codes
 */
export type ContextFor = (request: FastifyRequest, isAnonymous?: boolean) => Promise<GraphQLContext>;

/**
 * `POST /graphql`. A token that does not hold is refused before Apollo sees the text; a request without one reaches
 * the schema and the fields that are public.
 */
export function mountGraphQL(
  app: FastifyInstance,
  apollo: ApolloServer<GraphQLContext>,
  { contextFor, rateLimits, gate }: { contextFor: ContextFor; rateLimits: RateLimits; gate: Gate },
): void {
  const contexts = new WeakMap<FastifyRequest, GraphQLContext>();
  app.post('/graphql', {
    // Any other answer may hold values, in whatever field.
    config: { isCompressible: ({ body }: FastifyRequest) => asksOnlyForSchema(body) },
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        const ctx = await contextFor(request);
        rateLimits.takeUnknown(reply, ctx);
        contexts.set(request, ctx);
      } catch (thrown) {
        const error = toAppError(thrown);
        return asAnswer(reply, error).send(bodyOf(error, request));
      }
    },
    preHandler: async (request, reply) => {
      try {
        request.body = await gate.admit(request.body);
      } catch (thrown) {
        const error = toAppError(thrown);
        const cost = await gate.report(request.body);
        return asAnswer(reply, error).send(bodyOf(error, request, cost === null ? undefined : { cost }));
      }
    },
    onSend: async (request, reply, payload) => {
      reply.header('cache-control', 'no-store');
      if (reply.statusCode < 400 || isCoded(payload)) return payload;
      const error = reply.statusCode < 500 ? malformedGraphQL() : new AppError('INTERNAL');
      asAnswer(reply, error);
      return bodyOf(error, request);
    },
    handler: fastifyApolloHandler(apollo, { context: async (request) => contexts.get(request) as GraphQLContext }),
  });
}

const asAnswer = (reply: FastifyReply, error: AppError): FastifyReply =>
  noteError(reply, error)
    .code(error.status)
    .headers({ 'cache-control': 'no-store', ...errorHeaders(error) })
    .type('application/json; charset=utf-8');

const bodyOf = (error: AppError, { id }: FastifyRequest, extensions?: object): string =>
  JSON.stringify({ errors: [toGraphQLError(error, id).toJSON()], extensions });

/** False for what Apollo answers by itself, before or instead of running an operation: it knows no request id. */
function isCoded(payload: unknown): boolean {
  if (typeof payload !== 'string') return false;
  const body = JSON.parse(payload) as { reqId?: string; errors?: { extensions?: { reqId?: string } }[] };
  return body.reqId !== undefined || body.errors?.[0]?.extensions?.reqId !== undefined;
}
