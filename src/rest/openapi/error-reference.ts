import { detailCodes } from '../../kernel/detail-codes.js';
import { type ErrorCode, errorCodes, errorRow } from '../../kernel/errors.js';
import type { JsonSchema } from '../response-schema.js';
import { headerReferences, LIMIT_HEADERS } from './header-reference.js';

/** Codes that no route returns: they come from the router, from Node's parser, or from GraphQL. */
const NOT_OF_ROUTES: ReadonlySet<string> = new Set([
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'GRAPHQL_SYNTAX',
  'GRAPHQL_INVALID',
  'QUERY_TOO_COMPLEX',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_DOCUMENTS_ONLY',
  'PERSISTED_DOCUMENT_NOT_FOUND',
  'NOT_ACCEPTABLE',
]);
/** These differ from route to route: what is not found, and what conflicts. */
const OF_THINGS: ReadonlySet<number> = new Set([404, 409, 412]);
const OF_BODIES: ReadonlySet<number> = new Set([400, 415]);
/** Statuses that any operation can answer and few callers act on: the `default` response. */
const ANYWHERE: ReadonlySet<number> = new Set([408, 431, 500, 502, 504]);

/**
 * The error responses of an operation, by status, for an OpenAPI document. Those that every operation has are references
 * to `errorComponents`; its 404 and 409 responses are its own.
 *
 * @param options `hasBody`: the operation takes a body; `own`: the codes of 404, 409 and 412 that it can answer
 */
export function errorResponses({ hasBody, own }: { hasBody: boolean; own: readonly ErrorCode[] }): JsonSchema {
  const shared = [...sharedByStatus().keys()].filter(
    (status) => !ANYWHERE.has(status) && (hasBody || !OF_BODIES.has(status)),
  );
  return {
    default: { $ref: '#/components/responses/Error' },
    ...Object.fromEntries(shared.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    ...Object.fromEntries(
      [...byStatus(own.filter((code) => OF_THINGS.has(errorRow(code).status)))].map(([status, codes]) => [
        status,
        response(status, codes),
      ]),
    ),
  };
}

/** What `errorResponses` refers to, of the `components` of an OpenAPI document. */
export const errorComponents = (): Readonly<Record<'schemas' | 'examples' | 'responses', JsonSchema>> => ({
  schemas: { Error: errorSchema() },
  examples: Object.fromEntries(codesOfRoutes().map((code) => [code, { value: errorExample(code) }])),
  responses: {
    ...Object.fromEntries(
      [...sharedByStatus()]
        .filter(([status]) => !ANYWHERE.has(status))
        .map(([status, codes]) => [status, response(status, codes)]),
    ),
    Error: response(
      'default',
      codesOfRoutes().filter((code) => ANYWHERE.has(errorRow(code).status)),
    ),
  },
});

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of codes) found.set(errorRow(code).status, [...(found.get(errorRow(code).status) ?? []), code]);
  return found;
}

const codesOfRoutes = (): ErrorCode[] => errorCodes().filter((code) => !NOT_OF_ROUTES.has(code));
const sharedByStatus = (): Map<number, ErrorCode[]> =>
  byStatus(codesOfRoutes().filter((code) => !OF_THINGS.has(errorRow(code).status)));

const response = (status: number | 'default', codes: readonly ErrorCode[]): JsonSchema => ({
  description: codes.join(', '),
  ...headersOf(status),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
});

function headersOf(status: number | 'default'): JsonSchema {
  if (status === 429) return { headers: headerReferences([...LIMIT_HEADERS, 'Retry-After']) };
  return status === 503 || status === 'default' ? { headers: headerReferences(['Retry-After']) } : {};
}

const errorExample = (code: ErrorCode): JsonSchema => ({
  reqId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
  statusCode: errorRow(code).status,
  error: errorRow(code).error,
  code,
  message: errorRow(code).message,
});

/** The one shape of every error body. */
const errorSchema = (): JsonSchema => ({
  type: 'object',
  description: 'Body of every error response.',
  required: ['reqId', 'statusCode', 'error', 'code', 'message'],
  properties: {
    reqId: { type: 'string', format: 'uuid', description: 'ID of the request.' },
    statusCode: { type: 'integer', description: 'HTTP status code.' },
    error: { type: 'string', description: 'Short name of the class of the error, for example `NotFound`.' },
    code: { type: 'string', enum: errorCodes(), description: 'Stable error code, to branch on.' },
    message: { type: 'string', description: 'What is wrong and what to do, for people.' },
    details: {
      type: 'array',
      description: 'All violations of the request.',
      items: {
        type: 'object',
        required: ['path', 'code', 'message'],
        properties: {
          path: {
            type: 'string',
            description:
              'Location in the request, starting with `body.`, `query.`, `params.` or `header.`, or location of a stored resource.',
          },
          code: {
            description: 'Stable code of the violation.',
            anyOf: [
              {
                type: 'string',
                description: 'What is wrong at the location.',
                enum: detailCodes().map(([code]) => code),
              },
              {
                type: 'string',
                description: 'Error code of the item, if it were the only one in the request.',
                enum: errorCodes(),
              },
              { type: 'string', description: 'In PERMISSION_DENIED: the missing action on the subject in `path`.' },
            ],
          },
          message: { type: 'string', description: 'What is required, for people. Never repeats your input.' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
});
