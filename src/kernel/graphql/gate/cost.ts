import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';

/** Arguments that say how long a list is: by a number, or by what they name. */
const SIZING = ['first', 'last', 'limit', 'ids', 'representations'];

/** The values of a request's variables, and defaults for omitted ones. */
export class VariableSizes {
  /** A size came from a variable: the cost holds for these values only. */
  wereAsked = false;
  readonly #defaults = new Map<string, ValueNode | undefined>();

  constructor(
    operations: readonly OperationDefinitionNode[],
    private readonly values: Readonly<Record<string, unknown>>,
  ) {
    for (const { variableDefinitions } of operations)
      for (const { variable, defaultValue } of variableDefinitions ?? [])
        this.#defaults.set(variable.name.value, defaultValue);
  }

  /** Null: not said. Undefined: neither sent nor with a default, so that the argument's own default holds. */
  read(name: string): number | null | undefined {
    this.wereAsked = true;
    if (Object.hasOwn(this.values, name)) {
      const value = this.values[name];
      if (Array.isArray(value)) return value.length;
      return typeof value === 'number' ? clamp(value) : null;
    }
    const fallback = this.#defaults.get(name);
    return fallback === undefined ? undefined : sizeOf(fallback, this);
  }
}

// What is no number is refused by GraphQL itself, later on.
const clamp = (value: number): number => Math.min(Math.max(0, value), MAX_SUM);

function sizeOf(value: ValueNode, variables: VariableSizes): number | null | undefined {
  if (value.kind === Kind.INT) return clamp(Number(value.value));
  if (value.kind === Kind.LIST) return value.values.length;
  return value.kind === Kind.VARIABLE ? variables.read(value.name.value) : null;
}

/**
 * What fields cost, from the schema and the document alone: the least number of objects that the answer may hold if its lists are as long
 * as the document allows. What they really hold is counted while it runs.
 *
 * A field that answers objects costs 1 for each, other fields are free. How many: what `first`, `last` or `limit` says, or `ids` or `representations` name
 * (literal, variable, default of either), which for a connection holds for all that is below it; 1 where nothing is said. Lists of the
 * schema's own description are as long as they are on average.
 */
export class CostModel {
  readonly #lengths: ReadonlyMap<string, number>;

  constructor(readonly schema: GraphQLSchema) {
    this.#lengths = introspectionLengths(schema);
  }

  /** The field with this name. Undefined if the schema has none, which validation reports. */
  field(parent: GraphQLCompositeType | undefined, name: string): GraphQLField<unknown, unknown> | undefined {
    if (this.#isTop(parent) && name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (this.#isTop(parent) && name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return parent !== undefined && 'getFields' in parent ? parent.getFields()[name] : undefined;
  }

  /** What a selection is taken from, below this field. */
  below(field: GraphQLField<unknown, unknown> | undefined): GraphQLCompositeType | undefined {
    const type = getNamedType(field?.type);
    return isCompositeType(type) ? type : undefined;
  }

  /** `__schema` and `__type`, which are read from memory. */
  isIntrospection = (field: GraphQLField<unknown, unknown> | undefined): boolean =>
    field === SchemaMetaFieldDef || field === TypeMetaFieldDef;

  readonly #isTop = (parent: GraphQLCompositeType | undefined): boolean =>
    parent !== undefined && (parent === this.schema.getQueryType() || parent === this.schema.getMutationType());

  /**
   * @param parent the type that the field is taken from, where it is known
   * @param inside cost of what is selected below the field; null: nothing is
   */
  ofField(
    parent: GraphQLCompositeType | undefined,
    node: FieldNode,
    inside: number | null,
    variables: VariableSizes,
  ): number {
    if (inside === null) return 0;
    const field = this.field(parent, node.name.value);
    if (field === undefined) return boundedSum(1, inside);
    const size = this.#lengths.get(`${parent?.name}.${field.name}`) ?? saidSize(field, node, variables) ?? 1;
    return isList(field) ? times(size, boundedSum(1, inside)) : boundedSum(1, times(size, inside));
  }
}

function isList({ type }: GraphQLField<unknown, unknown>): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

/** Null: the field has no such argument, or nothing is said. */
function saidSize(
  { args }: GraphQLField<unknown, unknown>,
  { arguments: given = [] }: FieldNode,
  variables: VariableSizes,
): number | null {
  const sizes = args
    .filter(({ name }) => SIZING.includes(name))
    .map(({ name, defaultValue }) => {
      const argument = given.find((each) => each.name.value === name);
      const said = argument === undefined ? undefined : sizeOf(argument.value, variables);
      return said === undefined && typeof defaultValue === 'number' ? defaultValue : (said ?? null);
    })
    .filter((size) => size !== null);
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/** Average lengths of the lists of `__Schema`, `__Type`, `__Field` and `__Directive`, rounded up. */
function introspectionLengths(schema: GraphQLSchema): Map<string, number> {
  const types = Object.values(schema.getTypeMap());
  const fields = types.flatMap((type) => ('getFields' in type ? [Object.values(type.getFields())] : []));
  const ofObjects = types.flatMap((type) => (isInputObjectType(type) || !('getFields' in type) ? [] : [type]));
  const args = ofObjects.flatMap((type) => Object.values(type.getFields()).map((field) => field.args.length));
  const average = (lengths: readonly number[]): number =>
    Math.ceil(lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length));
  const fieldsOfOne = average(fields.map(({ length }) => length));
  const enums = types.flatMap((type) => (isEnumType(type) ? [type.getValues().length] : []));
  return new Map([
    ['__Schema.types', types.length],
    ['__Schema.directives', schema.getDirectives().length],
    ['__Type.fields', fieldsOfOne],
    ['__Type.inputFields', fieldsOfOne],
    ['__Type.enumValues', average(enums)],
    ['__Field.args', average(args)],
    ['__Directive.args', average(schema.getDirectives().map((directive) => directive.args.length))],
  ]);
}

/** The largest number that is counted. Larger numbers are reported as this one. */
const MAX_SUM = Number.MAX_SAFE_INTEGER;

/** Sums and products that stop at `MAX_SUM`: thirty fragments that spread each other twice are a thousand million selections. */
export const boundedSum = (a: number, b: number): number => Math.min(a + b, MAX_SUM);
const times = (a: number, b: number): number => Math.min(a * b, MAX_SUM);
