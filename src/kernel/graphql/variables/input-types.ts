import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type OperationDefinitionNode,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import { runAndYield } from '../../event-loop.js';

type Translate = (value: unknown) => unknown;

/**
 * Checks the names in a value against an input type, not its leaves: the value may be a sample.
 *
 * @throws Error for a field that the type does not have, and for a required one that is not there
 */
function checkInputNames(type: GraphQLInputType, sample: unknown, path: string): void {
  const named = isNonNullType(type) ? type.ofType : type;
  if (typeof sample !== 'object' || sample === null) return;
  if (isListType(named)) {
    if (Array.isArray(sample)) for (const item of sample) checkInputNames(named.ofType, item, path);
    return;
  }
  if (!isInputObjectType(named)) return;
  const fields = named.getFields();
  const unknown = Object.keys(sample).filter((name) => !(name in fields));
  const missing = Object.values(fields).filter((field) => isRequiredInputField(field) && !(field.name in sample));
  if (unknown.length > 0) throw new Error(`${path} has no field ${unknown.join(', ')}`);
  if (missing.length > 0) throw new Error(`${path} has no value for ${missing.map(({ name }) => name).join(', ')}`);
  for (const [name, value] of Object.entries(sample))
    checkInputNames((fields[name] as { type: GraphQLInputType }).type, value, `${path}.${name}`);
}

/** The types of the variables of an operation, by name. */
export const variableTypes = (
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Map<string, GraphQLInputType> =>
  new Map(
    variableDefinitions.map(({ variable, type }) => [
      variable.name.value,
      typeFromAST(schema, type as never) as GraphQLInputType,
    ]),
  );

/**
 * Checks the names in variables against an operation, not their leaves: the values may be samples.
 *
 * @throws Error for a variable that the operation does not have, and for a required one that is not there
 */
export function checkVariables(
  types: ReadonlyMap<string, GraphQLInputType>,
  { variableDefinitions = [] }: OperationDefinitionNode,
  sample: Readonly<Record<string, unknown>>,
): void {
  const unknown = Object.keys(sample).filter((name) => !types.has(name));
  if (unknown.length > 0) throw new Error(`the document has no variable ${unknown.join(', ')}`);
  for (const { variable, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    const type = types.get(name) as GraphQLInputType;
    if (sample[name] === undefined && isNonNullType(type) && defaultValue === undefined)
      throw new Error(`variable ${name} has no value`);
    checkInputNames(type, sample[name], name);
  }
}

/**
 * Makes what a compiled document takes of the variables that a route made: names of enum values (`SECRET_MANAGER`) for what
 * they stand for (`secret-manager`), at any depth, and two things that graphql-jit does not do as graphql-js does: nothing
 * in place of `undefined`, which it takes for null, and the default where a non-null variable or field was not given.
 */
export function variablesTranslator(
  types: ReadonlyMap<string, GraphQLInputType>,
  { variableDefinitions = [] }: OperationDefinitionNode,
): (variables: object) => Promise<Record<string, unknown>> {
  const known = new Map<GraphQLInputType, Translate>();
  const translate = objectTranslator(
    variableDefinitions.map(({ variable, defaultValue }): Entry => {
      const name = variable.name.value;
      const type = types.get(name) as GraphQLInputType;
      return [name, inputTranslator(type, known), valueFromAST(defaultValue, type)];
    }),
  );
  return (variables) => runAndYield(() => translate(variables));
}

type Entry = readonly [name: string, translate: Translate, fallback: unknown];

function objectTranslator(entries: readonly Entry[]): (value: object) => Record<string, unknown> {
  const translators = new Map(entries.map(([name, translate]) => [name, translate]));
  const defaults = entries.filter(([, , fallback]) => fallback !== undefined);
  return (value) => {
    const copy: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      if (inner !== undefined) copy[name] = translators.get(name)?.(inner) ?? inner;
    }
    for (const [name, translate, fallback] of defaults) copy[name] ??= name in copy ? null : translate(fallback);
    return copy;
  };
}

function inputTranslator(type: GraphQLInputType, known: Map<GraphQLInputType, Translate>): Translate {
  const named = getNamedType(type);
  const found = known.get(named);
  if (found !== undefined) return found;
  if (isEnumType(named)) {
    const names = new Map(named.getValues().map(({ name, value }) => [value as unknown, name]));
    known.set(
      named,
      each((value) => names.get(value) ?? value),
    );
  } else if (isInputObjectType(named)) {
    let translate: (value: object) => unknown = (value) => value;
    // Known before its fields are looked at: a type may hold itself.
    known.set(
      named,
      each((value) => (typeof value === 'object' ? translate(value as object) : value)),
    );
    const fields = Object.values(named.getFields());
    translate = objectTranslator(
      fields.map((field): Entry => [field.name, inputTranslator(field.type, known), field.defaultValue]),
    );
  } else known.set(named, (value) => value);
  return known.get(named) as Translate;
}

const each =
  (translate: Translate): Translate =>
  (value) => {
    if (value === null || value === undefined) return value;
    return Array.isArray(value) ? value.map(each(translate)) : translate(value);
  };
