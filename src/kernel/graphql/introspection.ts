import type { ApolloServerPlugin } from '@apollo/server';
import { HeaderMap } from '@apollo/server';
import {
  __Schema,
  type DocumentNode,
  execute,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
  stripIgnoredCharacters,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { AnyContext } from '../context.js';
import { yieldToEventLoop } from '../event-loop.js';
import { hashOf } from './gate/analyse.js';
import { rootFields } from './gate/root-fields.js';

/** Fields of any root that tell of the schema. */
export const INTROSPECTION_FIELDS: ReadonlySet<string> = new Set(['__schema', '__type', '__typename', '_service']);

/** Of all responses together. The response to the standard introspection query takes half a MiB. */
const MAX_BYTES = 8 * 1024 * 1024;
const OVERHEAD_BYTES = 1_024;

/**
 * Lets other requests run while the schema is described: all of its types at once would block the event loop for longer than anything
 * else that a caller can ask for. GraphQL has one `__Schema` for all schemas of a process.
 */
const { types } = __Schema.getFields() as { readonly types: GraphQLField<GraphQLSchema, unknown> };
types.resolve = (schema): Promise<GraphQLNamedType>[] => {
  let before = Promise.resolve();
  return Object.values(schema.getTypeMap()).map((type) => {
    before = before.then(yieldToEventLoop);
    return before.then(() => type);
  });
};

/** What is asked of the schema: a valid query. */
interface IntrospectionRequest {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Stands for the data of a response: the keys of its root fields, without what is below them. */
type Stub = Readonly<Record<string, true>>;

/**
 * Responses that describe the schema, as bytes: they are the same for every caller, and the largest that can be had without a
 * token. Kept by document and variables, the latest used ones; blanks and comments make no difference.
 */
export class SchemaResponses {
  readonly #stubs = new LRUCache<string, Stub>({
    maxSize: MAX_BYTES,
    sizeCalculation: (stub) => OVERHEAD_BYTES + (this.#bytes.get(stub)?.length ?? 0),
  });
  readonly #making = new Map<string, Promise<Stub | null>>();
  readonly #bytes = new WeakMap<object, Buffer>();

  /**
   * Responds to a query for the schema and nothing else, whatever its fields are called in the response.
   *
   * @returns a stub for the data, of which `bytesOf` has the response; null for other operations, and where there are errors
   */
  async find(asked: IntrospectionRequest): Promise<Stub | null> {
    const { document, operation } = asked;
    if (operation.operation !== OperationTypeNode.QUERY) return null;
    const names = rootFields(document, operation).map(({ name }) => name.value);
    if (!names.every((name) => INTROSPECTION_FIELDS.has(name)) || names.every((name) => name === '__typename'))
      return null;
    const key = keyOf(asked);
    const known = this.#stubs.get(key);
    if (known !== undefined) return known;
    // Of many who ask at the same time the first makes it for all.
    const making = this.#making.get(key) ?? this.#make(asked);
    this.#making.set(key, making);
    try {
      const stub = await making;
      if (stub !== null) this.#stubs.set(key, stub);
      return stub;
    } finally {
      this.#making.delete(key);
    }
  }

  /**
   * The response for data that `find` returned: `{"data":{...}}`; undefined for other data.
   *
   * @param extensions of the response, where there are any
   */
  bytesOf(data: object, extensions: object | undefined): Buffer | undefined {
    const bytes = this.#bytes.get(data);
    if (bytes === undefined || extensions === undefined) return bytes;
    return Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,"extensions":${JSON.stringify(extensions)}}`)]);
  }

  async #make({ schema, document, operation, variables }: IntrospectionRequest): Promise<Stub | null> {
    const operationName = operation.name?.value ?? null;
    const { data, errors } = await execute({
      schema,
      document,
      operationName,
      variableValues: variables,
      contextValue: { actor: null },
    });
    if (data == null || errors !== undefined) return null;
    const stub = Object.fromEntries(Object.keys(data).map((name) => [name, true as const]));
    await yieldToEventLoop();
    this.#bytes.set(stub, Buffer.from(JSON.stringify({ data })));
    return stub;
  }
}

/** Variables that the operation does not declare change nothing. */
function keyOf({ document, operation, variables }: IntrospectionRequest): string {
  const declared = (operation.variableDefinitions ?? []).map(({ variable: { name } }) => variables[name.value]);
  const text = stripIgnoredCharacters(document.loc?.source.body ?? '');
  return hashOf(JSON.stringify([text, operation.name?.value ?? null, declared]));
}

/** Lets `responses` respond to queries for the schema. Behind the gate, which looks at variables. */
export const cachedSchemaResponses = (responses: SchemaResponses): ApolloServerPlugin<AnyContext> => ({
  async requestDidStart() {
    return {
      async responseForOperation({ schema, document, operation, request: { variables = {} } }) {
        // Apollo Server calls this before it reports an unknown operation name.
        if ((operation as typeof operation | undefined) === undefined) return null;
        const data = await responses.find({ schema, document, operation, variables });
        return data === null
          ? null
          : { http: { status: undefined, headers: new HeaderMap() }, body: { kind: 'single', singleResult: { data } } };
      },
    };
  },
});
