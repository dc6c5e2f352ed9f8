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
import { MAX_FAULTS, unknownKeys } from '../validation.js';
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
 * sentences that quote values. Paths begin with the argument that takes the variable.
 *
 * Looks for faults no further than they are told: a body of 1 MiB has room for a million.
 * Source: decisions 2.3, reliability P15, P17.
 */
export function variableFaults(asked: Asked): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  for (const fault of faultsOfAll(asked)) {
    faults.push(fault);
    if (faults.length > MAX_FAULTS) break;
  }
  return faults;
}

function* faultsOfAll({ schema, document, operation, variables, suggests }: Asked): Faults {
  const types = variableTypes(schema, operation);
  const places = variablePlaces(document);
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const isAbsent = !Object.hasOwn(variables, name);
    if (isAbsent && defaultValue !== undefined) continue;
    const at = { inside: null, part: places.get(name) ?? 'variables', suggests };
    yield* faultsOf(types.get(name) as GraphQLInputType, variables[name], at);
  }
}

type Faults = Generator<ErrorDetail, void, undefined>;

/** A place in the variables. It is put into words only where there is a fault. */
interface At {
  readonly inside: At | null;
  readonly part: string | number;
  readonly suggests: boolean;
}

const below = (inside: At, part: string | number): At => ({ inside, part, suggests: inside.suggests });

function pathOf({ inside, part }: At): string {
  if (inside === null) return String(part);
  return pathOf(inside) + (typeof part === 'number' ? `[${part}]` : `.${part}`);
}

function* faultsOf(type: GraphQLInputType, value: unknown, at: At): Faults {
  if (isNonNullType(type)) {
    if (value == null) yield missing(at);
    else yield* faultsOf(type.ofType, value, at);
  } else if (value == null) return;
  else if (isListType(type)) {
    // A single value is a list of one.
    if (!Array.isArray(value)) yield* faultsOf(type.ofType, value, at);
    else for (const [index, item] of value.entries()) yield* faultsOf(type.ofType, item, below(at, index));
  } else if (isInputObjectType(type)) yield* faultsOfObject(type, value, at);
  else yield* faultsOfLeaf(type, value, at);
}

function* faultsOfObject(type: GraphQLInputObjectType, value: unknown, at: At): Faults {
  if (typeof value !== 'object' || Array.isArray(value)) {
    yield { path: pathOf(at), code: 'INVALID_TYPE', message: 'must be an object' };
    return;
  }
  const object = value as Readonly<Record<string, unknown>>;
  const fields = type.getFields();
  const known = Object.keys(fields);
  for (const field of Object.values(fields)) {
    const inside = below(at, field.name);
    if (object[field.name] !== undefined) yield* faultsOf(field.type, object[field.name], inside);
    else if (isRequiredInputField(field)) yield missing(inside);
  }
  const keys = Object.keys(object).filter((key) => !Object.hasOwn(fields, key));
  if (keys.length > 0) yield* unknownKeys(pathOf(at), { object, keys, known: at.suggests ? known : [], noun: 'field' });
  if (!type.isOneOf) return;
  const given = known.filter((name) => object[name] !== undefined);
  if (given.length !== 1 || object[given[0] as string] === null)
    yield { path: pathOf(at), code: 'NOT_ONE', message: 'must have exactly one of its fields, and not null' };
}

const missing = (at: At): ErrorDetail => ({ path: pathOf(at), code: 'MISSING', message: 'must be given' });

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

function* faultsOfLeaf(type: GraphQLLeafType, value: unknown, at: At): Faults {
  try {
    if (type.parseValue(value) !== undefined) return;
  } catch {
    // Its message quotes the value.
  }
  const path = pathOf(at);
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    yield { path, code: 'INVALID_VALUE', message: `must be ${names.join(' or ')}` };
  } else
    yield { path, code: 'INVALID_TYPE', message: SCALARS[type.name] ?? `must be a value of the type ${type.name}` };
}
