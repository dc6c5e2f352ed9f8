import {
  type DocumentNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type OperationDefinitionNode,
} from 'graphql';
import type { ErrorDetail } from '../errors.js';
import { unknownKeys } from '../validation.js';
import { variableTypes } from './input-types.js';
import { variablePlaces } from './variable-places.js';

interface Asked {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether near names of the schema may be told. */
  readonly suggests: boolean;
}

/**
 * All that keeps variables from fitting their types, at every depth: what graphql-js finds too, which tells of it only in
 * sentences that quote values. Paths begin with the argument that takes the variable. Source: decisions 2.3, reliability P17.
 */
export function variableFaults({ schema, document, operation, variables, suggests }: Asked): ErrorDetail[] {
  const types = variableTypes(schema, operation);
  const places = variablePlaces(document);
  return (operation.variableDefinitions ?? []).flatMap(({ variable: { name }, defaultValue }) => {
    const isAbsent = !Object.hasOwn(variables, name.value);
    if (isAbsent && defaultValue !== undefined) return [];
    const path = places.get(name.value) ?? 'variables';
    return faultsOf(types.get(name.value) as GraphQLInputType, variables[name.value], { path, suggests });
  });
}

interface At {
  readonly path: string;
  readonly suggests: boolean;
}

function faultsOf(type: GraphQLInputType, value: unknown, at: At): ErrorDetail[] {
  if (isNonNullType(type)) return value == null ? [missing(at.path)] : faultsOf(type.ofType, value, at);
  if (value == null) return [];
  if (isListType(type)) {
    const each = (item: unknown, index: number) => faultsOf(type.ofType, item, { ...at, path: `${at.path}[${index}]` });
    // A single value is a list of one.
    return Array.isArray(value) ? value.flatMap(each) : faultsOf(type.ofType, value, at);
  }
  return isInputObjectType(type) ? faultsOfObject(type, value, at) : faultsOfLeaf(type, value, at.path);
}

function faultsOfObject(type: GraphQLInputObjectType, value: unknown, { path, suggests }: At): ErrorDetail[] {
  if (typeof value !== 'object' || Array.isArray(value))
    return [{ path, code: 'INVALID_TYPE', message: 'must be an object' }];
  const object = value as Readonly<Record<string, unknown>>;
  const fields = type.getFields();
  const known = Object.keys(fields);
  const keys = Object.keys(object).filter((key) => !Object.hasOwn(fields, key));
  const given = known.filter((name) => object[name] !== undefined);
  return [
    ...Object.values(fields).flatMap((field) => {
      const inside = `${path}.${field.name}`;
      if (object[field.name] === undefined) return isRequiredInputField(field) ? [missing(inside)] : [];
      return faultsOf(field.type, object[field.name], { path: inside, suggests });
    }),
    ...unknownKeys(path, { object, keys, known: suggests ? known : [], noun: 'field' }),
    ...(type.isOneOf && (given.length !== 1 || object[given[0] as string] === null)
      ? [{ path, code: 'NOT_ONE' as const, message: 'must have exactly one of its fields, and not null' }]
      : []),
  ];
}

const missing = (path: string): ErrorDetail => ({ path, code: 'MISSING', message: 'must be given' });

/** What values of the scalars of the specification must be. */
const SCALARS: Readonly<Record<string, string>> = {
  Int: 'must be a whole number of at most 32 bits',
  Float: 'must be a number',
  String: 'must be a text',
  Boolean: 'must be true or false',
  ID: 'must be a text',
  DateTimeISO: 'must be a date and time (ISO 8601)',
  DateTime: 'must be a date and time (ISO 8601)',
  JSONObject: 'must be an object',
};

function faultsOfLeaf(type: GraphQLLeafType, value: unknown, path: string): ErrorDetail[] {
  try {
    if (type.parseValue(value) !== undefined) return [];
  } catch {
    // Its message quotes the value.
  }
  if (!isEnumType(type))
    return [{ path, code: 'INVALID_TYPE', message: SCALARS[type.name] ?? `must be a value of the type ${type.name}` }];
  const names = type.getValues().map(({ name }) => name);
  return [{ path, code: 'INVALID_VALUE', message: `must be ${names.join(' or ')}` }];
}
