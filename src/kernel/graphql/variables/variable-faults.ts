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
import type { ErrorDetail } from '../../errors.js';
import { Faults } from '../../validation.js';
import { variableTypes } from './input-types.js';
import { variablePlaces } from './variable-places.js';

interface Asked {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether similar names of the schema may be suggested. */
  readonly suggests: boolean;
}

/**
 * All violations of the types of variables, at every depth. graphql-js finds them too, but reports them only in sentences that
 * quote values. Paths begin with the argument that takes the variable.
 *
 * Stops when the maximum number of violations is found: a body of 1 MiB has room for a million.
 */
export function variableFaults({ schema, document, operation, variables, suggests }: Asked): ErrorDetail[] {
  const types = variableTypes(schema, operation);
  const places = variablePlaces(document);
  const faults = new Faults();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const isAbsent = !Object.hasOwn(variables, name);
    if (isAbsent && defaultValue !== undefined) continue;
    const at = { inside: null, part: places.get(name) ?? 'variables', suggests, faults };
    addFaults(types.get(name) as GraphQLInputType, variables[name], at);
  }
  return faults.list();
}

/** A location in the variables, and the list of violations. Its path is built only for a violation. */
interface At {
  readonly inside: At | null;
  readonly part: string | number;
  readonly suggests: boolean;
  readonly faults: Faults;
}

const below = (inside: At, part: string | number): At => ({
  inside,
  part,
  suggests: inside.suggests,
  faults: inside.faults,
});

function pathOf({ inside, part }: At): string {
  if (inside === null) return String(part);
  return pathOf(inside) + (typeof part === 'number' ? `[${part}]` : `.${part}`);
}

function addFaults(type: GraphQLInputType, value: unknown, at: At): void {
  if (isNonNullType(type)) {
    if (value == null) addMissing(at);
    else addFaults(type.ofType, value, at);
  } else if (value == null || at.faults.isFull) return;
  else if (isListType(type)) {
    // A single value is a list of one.
    if (!Array.isArray(value)) addFaults(type.ofType, value, at);
    else for (const [index, item] of value.entries()) addFaults(type.ofType, item, below(at, index));
  } else if (isInputObjectType(type)) addFaultsOfObject(type, value, at);
  else addFaultOfLeaf(type, value, at);
}

function addFaultsOfObject(type: GraphQLInputObjectType, value: unknown, at: At): void {
  const { faults } = at;
  if (typeof value !== 'object' || Array.isArray(value)) {
    faults.add({ path: pathOf(at), code: 'INVALID_TYPE', message: 'must be an object' });
    return;
  }
  const object = value as Readonly<Record<string, unknown>>;
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    if (object[field.name] !== undefined) addFaults(field.type, object[field.name], below(at, field.name));
    else if (isRequiredInputField(field)) addMissing(below(at, field.name));
  }
  const keys = Object.keys(object).filter((key) => !Object.hasOwn(fields, key));
  if (keys.length > 0)
    faults.addUnknownKeys(() => pathOf(at), {
      object,
      keys,
      known: at.suggests ? Object.keys(fields) : [],
      noun: 'field',
    });
  if (!type.isOneOf) return;
  const given = Object.keys(fields).filter((name) => object[name] !== undefined);
  if (given.length !== 1 || object[given[0] as string] === null)
    faults.add({ path: pathOf(at), code: 'NOT_ONE', message: 'must have exactly one field, which must not be null' });
}

function addMissing(at: At): void {
  if (!at.faults.isFull) at.faults.add({ path: pathOf(at), code: 'MISSING', message: 'required' });
}

/** What values of the scalars of the specification must be. */
const SCALARS: Readonly<Record<string, string>> = {
  Int: 'must be a whole number between -2147483648 and 2147483647',
  Float: 'must be a number',
  String: 'must be a string',
  Boolean: 'must be true or false',
  ID: 'must be a string',
  DateTime: 'must be a date and time in RFC 3339 format',
  JSONObject: 'must be an object',
};

function addFaultOfLeaf(type: GraphQLLeafType, value: unknown, at: At): void {
  try {
    if (type.parseValue(value) !== undefined) return;
  } catch {
    // Its message quotes the value.
  }
  const path = pathOf(at);
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    at.faults.add({ path, code: 'INVALID_VALUE', message: `must be ${names.join(' or ')}` });
  } else {
    const message = SCALARS[type.name] ?? `must be a ${type.name}`;
    at.faults.add({ path, code: 'INVALID_TYPE', message });
  }
}
