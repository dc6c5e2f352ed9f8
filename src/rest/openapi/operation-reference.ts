import * as z from 'zod';
import type { ErrorCode } from '../../kernel/errors.js';
import type { ReplyHeader } from '../response-headers.js';
import type { JsonSchema } from '../response-schema.js';
import type { HarmlessFields } from '../route.js';
import { type Descriptions, withDescriptions } from '../rule-kinds.js';
import { headerReferences, LIMIT_HEADERS, SUCCESS_LIMIT_HEADERS } from './header-reference.js';
import { makePortable } from './named-schemas.js';

/** What applies to every operation, in Markdown. */
export const INTRODUCTION = `The REST API of Strongroom, a secrets manager. It is a thin layer over the GraphQL API: both run the same operations.

Every operation needs a bearer token unless its description says otherwise: \`Authorization: Bearer srt_…\`.

All errors have the same shape. Branch on \`code\`, which is stable. \`details\` lists all violations of a request at once. Report
\`reqId\`, which is also in the header \`X-Request-Id\`, to your operator.

A body can have 1 MiB and 10,000 entries: objects, arrays, other items of arrays, and the keys of an object beyond its first 32.
Without a token the limits are 16 KiB and 1,000 entries.

Unknown fields of a body are refused with 422: \`\`unknown field \`projectNmae\`; did you mean \`projectName\`?\`\` Unknown query
parameters are refused, too. Some existing clients send fields that change nothing. \`x-ignored-fields\` of an operation lists those that it
ignores, beside parameters of the path, which a body may repeat; the response names them in the header \`X-Ignored-Keys\`.
\`Prefer: handling=strict\` refuses these as well.

Send a change with an \`Idempotency-Key\`: if you send it again with the same key, it has no second effect. GET responses have an
\`ETag\`. With \`If-None-Match\` you download a response only if it has changed; with \`If-Match\`, where a change supports it, you
change only what you have read. Lists are complete unless you page them with \`limit\` and \`cursor\`.

\`x-operation\` has the number of an operation in the interface specification; \`x-extension\` marks operations beyond it. Deprecated
paths are older paths of current operations, with the same effect.`;

/** The JSON content of a body, in OpenAPI's words. */
export const jsonContent = (schema: JsonSchema, example: unknown): JsonSchema => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** The JSON schema of what rules accept, described in the words of the GraphQL arguments that it becomes. */
export const inputSchema = (rules: z.ZodType, descriptions: Descriptions): JsonSchema => {
  const { $schema: _, ...schema } = z.toJSONSchema(rules, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => makePortable(jsonSchema as JsonSchema),
  });
  return withDescriptions(schema, descriptions);
};

/** The parameters of an operation in path and query. Names in the path without rules of their own take any text. */
export function parametersOf(
  { path, params, query }: { path: string; params?: z.ZodObject | undefined; query?: z.ZodObject | undefined },
  descriptions: Descriptions,
): JsonSchema[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inPath = z.object(Object.fromEntries(names.map((name) => [name, params?.shape[name] ?? z.string()])));
  return [
    ...parametersIn('path', inputSchema(inPath, descriptions)),
    ...parametersIn('query', inputSchema(query ?? z.object({}), descriptions)),
  ];
}

const parametersIn = (place: 'path' | 'query', { properties = {}, required = [] }: JsonSchema): JsonSchema[] =>
  Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: (required as string[]).includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));

/** `components.parameters` of an OpenAPI document that `commonsOf` refers to. */
export const parameterComponents = (): JsonSchema => ({
  IdempotencyKey: IDEMPOTENCY_KEY,
  Prefer: PREFER,
  IfMatch: IF_MATCH,
});

/** `components.responses` of an OpenAPI document that `commonsOf` refers to. */
export const responseComponents = (): JsonSchema => ({
  304: {
    description: 'Not modified: If-None-Match has the current ETag.',
    headers: headerReferences(['X-Request-Id', ...LIMIT_HEADERS, 'ETag']),
  },
});

const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A unique string of your choice for this request. If you send the request again within 24 hours with the same token and key, it has no second effect and you get the same response.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

const PREFER: JsonSchema = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description: '`handling=strict` refuses every unknown field of the body with 422, also those of `x-ignored-fields`.',
  schema: { type: 'string', examples: ['handling=strict'] },
};

const IF_MATCH: JsonSchema = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` from a GET of this path. If the resource has changed since, the request is refused with 412.',
  schema: { type: 'string' },
};

const IDEMPOTENCY_ERRORS: readonly ErrorCode[] = [
  'IDEMPOTENCY_RUNNING',
  'IDEMPOTENCY_ANSWER_LOST',
  'IDEMPOTENCY_ANSWER_WITHHELD',
];

/**
 * What every operation of a kind takes, answers and refuses beside its own: those that change take an idempotency key, those that
 * ignore fields the preference for strict handling.
 *
 * @param route `headers`: those of its own, to stand beside the others
 */
export function commonsOf({
  method,
  anonymous,
  harmless = {},
  ifMatch,
  headers: own = [],
}: {
  method: string;
  anonymous?: true | undefined;
  harmless?: HarmlessFields | undefined;
  ifMatch?: object | undefined;
  headers?: readonly Omit<ReplyHeader<never>, 'value'>[] | undefined;
}): {
  parameters: JsonSchema[];
  headers: JsonSchema;
  responses: JsonSchema;
  errors: readonly ErrorCode[];
} {
  const isRead = method === 'GET';
  const takesKey = !isRead && anonymous !== true;
  const ignoresFields = Object.keys(harmless).length > 0;
  const headers = {
    ...headerReferences([
      'X-Request-Id',
      ...SUCCESS_LIMIT_HEADERS,
      ...(isRead ? (['ETag'] as const) : []),
      ...(takesKey ? (['Idempotency-Replayed'] as const) : []),
      ...(ignoresFields ? (['X-Ignored-Keys', 'Preference-Applied'] as const) : []),
    ]),
    ...Object.fromEntries(own.map(({ name, description, schema }) => [name, { description, schema }])),
  };
  return {
    parameters: [
      ...(takesKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(ignoresFields ? [{ $ref: '#/components/parameters/Prefer' }] : []),
      ...(ifMatch === undefined ? [] : [{ $ref: '#/components/parameters/IfMatch' }]),
    ],
    errors: [
      ...(takesKey ? IDEMPOTENCY_ERRORS : []),
      ...(ifMatch === undefined ? [] : (['PRECONDITION_FAILED'] as const)),
    ],
    headers,
    responses: isRead ? { 304: { $ref: '#/components/responses/304' } } : {},
  };
}
