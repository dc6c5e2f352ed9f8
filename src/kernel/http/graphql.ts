import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorHeaders, toAppError, toGraphQLError } from '../errors.js';
import type { GraphQLContext } from '../graphql/apollo.js';

/** Makes the Context of a request, or the anonymous one when it carries no token. @throws the TOKEN_* codes */
export type ContextFor = (request: FastifyRequest) => Promise<GraphQLContext>;

/**
 * `POST /graphql`. A token that does not hold is refused before Apollo sees the text; a request without one reaches
 * the schema and the fields that are public.
 */
export function mountGraphQL(app: FastifyInstance, apollo: ApolloServer<GraphQLContext>, contextFor: ContextFor): void {
  const contexts = new WeakMap<FastifyRequest, GraphQLContext>();
  app.post('/graphql', {
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        contexts.set(request, await contextFor(request));
      } catch (thrown) {
        const error = toAppError(thrown);
        return reply
          .code(error.status)
          .headers({ 'cache-control': 'no-store', ...errorHeaders(error) })
          .type('application/json; charset=utf-8')
          .send(JSON.stringify({ errors: [toGraphQLError(error, request.id).toJSON()] }));
      }
    },
    onSend: async (_request, reply) => void reply.header('cache-control', 'no-store'),
    handler: fastifyApolloHandler(apollo, { context: async (request) => contexts.get(request) as GraphQLContext }),
  });
}
