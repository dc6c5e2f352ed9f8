import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

export type JsonSchema = Record<string, unknown>;

const SCHEMA = Symbol('schema');
const NULLABLE = Symbol('nullable');
const OPTIONAL = Symbol('optional');
const EITHER = Symbol('either');
/** The type of GraphQL that a sample, and the schema made of it, is of. */
const TYPE = Symbol('type');
const SCALARS: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  UUID: { type: 'string', format: 'uuid' },
  JSONObject: { type: 'object', additionalProperties: true },
};

/** A sample of what a document answers: leaves carry their JSON schema, lists have one entry. */
export function sampleData(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Record<string, unknown> {
  const root = operation.operation === 'query' ? schema.getQueryType() : schema.getMutationType();
  const data = sampleObject(schema, document, root as GraphQLObjectType, operation.selectionSet);
  // A root field is null beside its error only, and a route whose document has errors answers one of them.
  return Object.fromEntries(Object.entries(data).map(([name, sample]) => [name, withoutMark(sample, NULLABLE)]));
}

function withoutMark(sample: unknown, mark: symbol): unknown {
  if (typeof sample === 'object' && sample !== null && !isLeaf(sample)) Reflect.deleteProperty(sample, mark);
  return sample;
}

function sampleObject(
  schema: GraphQLSchema,
  document: DocumentNode,
  type: GraphQLNamedType,
  { selections }: SelectionSetNode,
): Record<string, unknown> {
  if (!isObjectType(type) && !isInterfaceType(type)) throw new Error(`${type.name} has no fields`);
  const fields = selections.flatMap((node): [string, unknown][] => {
    if (node.kind === Kind.FIELD) {
      const field = type.getFields()[node.name.value];
      if (field === undefined) return [];
      const sample = sampleOf(
        schema,
        document,
        field.type,
        node.selectionSet,
        field.description ?? undefined,
      ) as object;
      // A field under `@include` or `@skip` is not in every reply.
      const isConditional = (node.directives ?? []).length > 0;
      return [
        [node.alias?.value ?? node.name.value, isConditional ? Object.assign(sample, { [OPTIONAL]: true }) : sample],
      ];
    }
    const fragment =
      node.kind === Kind.INLINE_FRAGMENT
        ? node
        : document.definitions.find((it) => it.kind === Kind.FRAGMENT_DEFINITION && it.name.value === node.name.value);
    if (fragment === undefined || !('selectionSet' in fragment) || fragment.selectionSet === undefined) return [];
    const on =
      'typeCondition' in fragment && fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : type;
    return Object.entries(sampleObject(schema, document, on ?? type, fragment.selectionSet));
  });
  const byName = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries([...byName].map(([name, some]) => [name, eitherOf(some.map(([, sample]) => sample))]));
}

/** What types of an interface answer under one name: one of their objects, or a leaf that all of them have. */
function eitherOf(samples: readonly unknown[]): unknown {
  const areObjects = samples.every((sample) => typeof sample === 'object' && !Array.isArray(sample) && !isLeaf(sample));
  return samples.length > 1 && areObjects ? { [EITHER]: samples } : samples.at(-1);
}

function sampleOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  description?: string,
  nullable = true,
): unknown {
  if (isNonNullType(type)) return sampleOf(schema, document, type.ofType, selection, description, false);
  if (isListType(type)) {
    const list = [sampleOf(schema, document, type.ofType, selection)];
    return nullable ? Object.assign(list, { [NULLABLE]: true }) : list;
  }
  if (selection !== undefined)
    return {
      ...sampleObject(schema, document, type, selection),
      ...(nullable ? { [NULLABLE]: true } : {}),
      [TYPE]: type.name,
    };
  const leaf = isEnumType(type)
    ? { type: 'string', enum: type.getValues().map(({ value }) => value as unknown) }
    : (SCALARS[type.name] ?? { type: 'string' });
  return { [SCHEMA]: { ...(nullable ? orNull(leaf) : leaf), ...(description === undefined ? {} : { description }) } };
}

const orNull = (schema: JsonSchema): JsonSchema =>
  'enum' in schema
    ? { ...schema, type: ['string', 'null'], enum: [...(schema.enum as unknown[]), null] }
    : { ...schema, type: [schema.type, 'null'] };

const isLeaf = (value: unknown): value is { readonly [SCHEMA]: JsonSchema } =>
  typeof value === 'object' && value !== null && SCHEMA in value;

const withoutNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type].flat().find((name) => name !== 'null'),
  ...('enum' in schema ? { enum: (schema.enum as unknown[]).filter((value) => value !== null) } : {}),
});

/** Marks a sampled leaf or object as one that is not always there, and is no null where it is. */
export const optionalSample = (sample: unknown): unknown => {
  if (isLeaf(sample)) return { [SCHEMA]: withoutNull(sample[SCHEMA]), [OPTIONAL]: true };
  return typeof sample === 'object' ? { ...sample, [OPTIONAL]: true } : sample;
};

/** A leaf or a list, or in place of null another value of its type. Of a sample: the schema without null. */
export function orInstead(leaf: unknown, instead: unknown): unknown {
  if (Array.isArray(leaf)) return Object.assign([...leaf], OPTIONAL in leaf ? { [OPTIONAL]: true } : {});
  if (isLeaf(leaf)) return { [SCHEMA]: withoutNull(leaf[SCHEMA]) };
  return leaf ?? instead;
}

/** The rows of a connection inside of an object. Those of a sample are a list that is not in every reply where the connection is not. */
export const nodesOf = <T>(connection: { readonly nodes: readonly T[] } | null): T[] =>
  Object.assign(
    [...(connection?.nodes ?? [])],
    connection !== null && OPTIONAL in connection ? { [OPTIONAL]: true } : {},
  );

/** A list with every entry changed. That of a sample stays one that is not in every reply, or can be null. */
export const eachOf = <T, U>(list: readonly T[], change: (entry: T) => U): U[] =>
  Object.assign(
    list.map(change),
    Object.fromEntries([OPTIONAL, NULLABLE].filter((mark) => mark in list).map((mark) => [mark, true])),
  );

/**
 * For what a reply writes otherwise than GraphQL answers it: of a sample a leaf with the schema of what is written, of an answer
 * undefined.
 */
export const ofSample = (value: unknown, schema: JsonSchema): unknown =>
  typeof value === 'object' && value !== null && (isLeaf(value) || NULLABLE in value)
    ? { [SCHEMA]: schema }
    : undefined;

/** The JSON schema of what a reply made of a sample. */
export function schemaOf(sample: unknown): JsonSchema {
  if (Array.isArray(sample))
    return {
      type: NULLABLE in sample ? ['array', 'null'] : 'array',
      items: sample.length === 0 ? {} : schemaOf(sample[0]),
    };
  if (typeof sample !== 'object' || sample === null) return { const: sample };
  if (isLeaf(sample)) return sample[SCHEMA];
  if (EITHER in sample) return { anyOf: (sample[EITHER] as unknown[]).map(schemaOf) };
  const fields = Object.entries(sample).filter(([, value]) => value !== undefined);
  return {
    type: NULLABLE in sample ? ['object', 'null'] : 'object',
    properties: Object.fromEntries(fields.map(([name, value]) => [name, schemaOf(value)])),
    required: fields
      .filter(([, value]) => !(typeof value === 'object' && value !== null && OPTIONAL in value))
      .map(([name]) => name),
    additionalProperties: false,
    ...(TYPE in sample ? { [TYPE]: sample[TYPE] } : {}),
  };
}

/** The type of GraphQL that an object schema of a reply is made of; undefined for one that the reply makes itself. */
export const typeNameOf = (schema: JsonSchema): string | undefined =>
  TYPE in schema ? (schema as { readonly [TYPE]: string })[TYPE] : undefined;
