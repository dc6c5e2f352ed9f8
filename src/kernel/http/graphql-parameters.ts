import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { malformedGraphQL } from '../graphql/errors/coded-errors.js';

const record = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** Not strict: GraphQL over HTTP lets clients send members of their own. */
const Parameters = z.object({
  query: z.string().nullish(),
  documentId: z.string().nullish(),
  operationName: z.string().nullish(),
  variables: record.nullish(),
  extensions: record.nullish(),
});

/** The parameters of a GraphQL request, as its body or its URL names them; null is as good as none. */
export type GraphQLParameters = z.output<typeof Parameters>;

/**
 * Reads the parameters of a request: the body of a POST, the URL of a GET, where `variables` and `extensions` are JSON.
 *
 * @throws MALFORMED_REQUEST for a batch, a parameter of another type, or one that is there twice
 */
export function readParameters({ method, body, query }: FastifyRequest): GraphQLParameters {
  const parsed = Parameters.safeParse(method === 'POST' ? body : fromUrl(query as Record<string, unknown>));
  if (!parsed.success) throw malformedGraphQL();
  return parsed.data;
}

function fromUrl({ variables, extensions, ...others }: Record<string, unknown>): Record<string, unknown> {
  return { ...others, variables: parseJson(variables), extensions: parseJson(extensions) };
}

function parseJson(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformedGraphQL();
  }
}

/** Headers that a page of another origin may send only after a preflight request, which is never granted. */
const ASKED_ABOUT = ['authorization', 'x-apollo-operation-name', 'apollo-require-preflight'];

/**
 * True for a GET that a page of another origin made a browser send. Such a page has no token and cannot read the answer,
 * but it could keep the service of an inner network busy. A POST cannot come this way: its body must be JSON.
 */
export function isForeignGet({ method, headers }: FastifyRequest): boolean {
  if (method === 'POST' || ASKED_ABOUT.some((name) => (headers[name] ?? '') !== '')) return false;
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return headers.origin !== undefined && headers.origin.replace(/^https?:\/\//, '') !== headers.host;
}
