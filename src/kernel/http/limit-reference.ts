import type { JsonSchema } from '../graphql/answer-schema.js';

const header = (type: 'integer' | 'string', description: string): JsonSchema => ({ description, schema: { type } });

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  'RateLimit-Policy': header(
    'string',
    'The limits that the request counts in: `"reads";q=600;w=60` is 600 in 60 seconds.',
  ),
  RateLimit: header('string', 'What is left of each, and the seconds until there is more: `"reads";r=599;t=56`.'),
  'RateLimit-Limit': header('integer', 'Of the limit of which the least is left: how often it passes in its window.'),
  'RateLimit-Remaining': header('integer', 'Of the same limit: how often it passes still.'),
  'RateLimit-Reset': header('integer', 'Of the same limit: seconds until there is more.'),
};

const RETRY_AFTER: JsonSchema = { 'Retry-After': header('integer', 'Seconds after which the request passes.') };

/** The header fields of every counted answer, for an OpenAPI document. Where nothing is limited they are absent. */
export const limitHeaderReferences = (): JsonSchema =>
  Object.fromEntries(Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The header fields of an error of this status. */
export const errorHeaderReferences = (status: number): JsonSchema => ({
  ...limitHeaderReferences(),
  ...(status === 429 ? RETRY_AFTER : {}),
});

/** `components.headers` of an OpenAPI document, which these refer to. */
export const limitHeaderComponents = (): JsonSchema => HEADERS;
