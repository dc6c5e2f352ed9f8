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
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { ErrorDetail } from '../../errors.js';
import { Violations } from '../../validation.js';
import { variableTypes } from './input-types.js';

interface VariableCheck {
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
export function variableViolations({ schema, document, operation, variables, suggests }: VariableCheck): ErrorDetail[] {
  const types = variableTypes(schema, operation);
  const places = variablePlaces(document);
  const violations = new Violations();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const isAbsent = !Object.hasOwn(variables, name);
    if (isAbsent && defaultValue !== undefined) continue;
    const at = { inside: null, part: places.get(name) ?? 'variables', suggests, violations };
    addViolations(types.get(name) as GraphQLInputType, variables[name], at);
  }
  return violations.list();
}

/** A location in the variables, and the list of violations. Its path is built only for a violation. */
interface At {
  readonly inside: At | null;
  readonly part: string | number;
  readonly suggests: boolean;
  readonly violations: Violations;
}

const below = (inside: At, part: string | number): At => ({
  inside,
  part,
  suggests: inside.suggests,
  violations: inside.violations,
});

function pathOf({ inside, part }: At): string {
  if (inside === null) return String(part);
  return pathOf(inside) + (typeof part === 'number' ? `[${part}]` : `.${part}`);
}

function addViolations(type: GraphQLInputType, value: unknown, at: At): void {
  if (isNonNullType(type)) {
    if (value == null) addMissing(at);
    else addViolations(type.ofType, value, at);
  } else if (value == null || at.violations.isFull) return;
  else if (isListType(type)) {
    // A single value is a list of one.
    if (!Array.isArray(value)) addViolations(type.ofType, value, at);
    else for (const [index, item] of value.entries()) addViolations(type.ofType, item, below(at, index));
  } else if (isInputObjectType(type)) addObjectViolations(type, value, at);
  else addLeafViolation(type, value, at);
}

function addObjectViolations(type: GraphQLInputObjectType, value: unknown, at: At): void {
  const { violations } = at;
  if (typeof value !== 'object' || Array.isArray(value)) {
    violations.add({ path: pathOf(at), code: 'INVALID_TYPE', message: 'must be an object' });
    return;
  }
  const object = value as Readonly<Record<string, unknown>>;
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    if (object[field.name] !== undefined) addViolations(field.type, object[field.name], below(at, field.name));
    else if (isRequiredInputField(field)) addMissing(below(at, field.name));
  }
  const keys = Object.keys(object).filter((key) => !Object.hasOwn(fields, key));
  if (keys.length > 0)
    violations.addUnknownKeys(() => pathOf(at), {
      object,
      keys,
      known: at.suggests ? Object.keys(fields) : [],
      noun: 'field',
    });
  if (!type.isOneOf) return;
  const given = Object.keys(fields).filter((name) => object[name] !== undefined);
  if (given.length !== 1 || object[given[0] as string] === null)
    violations.add({
      path: pathOf(at),
      code: 'NOT_ONE',
      message: 'must have exactly one field, which must not be null',
    });
}

function addMissing(at: At): void {
  if (!at.violations.isFull) at.violations.add({ path: pathOf(at), code: 'MISSING', message: 'required' });
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

function addLeafViolation(type: GraphQLLeafType, value: unknown, at: At): void {
  try {
    if (type.parseValue(value) !== undefined) return;
  } catch {
    // Its message quotes the value.
  }
  const path = pathOf(at);
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    at.violations.add({ path, code: 'INVALID_VALUE', message: `must be ${names.join(' or ')}` });
  } else {
    const message = SCALARS[type.name] ?? `must be a ${type.name}`;
    at.violations.add({ path, code: 'INVALID_TYPE', message });
  }
}

/** Whether something has a name of its own in a path. */
const NAMED = new Set<string>([Kind.ARGUMENT, Kind.OBJECT_FIELD]);

/**
 * Where the variables of a document are first used, by name: `input`, or `input.slug` inside of a literal. These are names of
 * the schema, where that of a variable is the caller's. Of a valid document.
 */
export function variablePlaces(document: DocumentNode): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  visit(document, {
    Variable({ name }, _key, parent, _path, ancestors) {
      // graphql-js does not count the parent among the ancestors.
      const names = [...ancestors, ...(parent === undefined ? [] : [parent])].flatMap((node) =>
        'kind' in node && NAMED.has(node.kind) && 'name' in node && node.name?.kind === Kind.NAME
          ? [node.name.value]
          : [],
      );
      if (names.length > 0 && !places.has(name.value)) places.set(name.value, names.join('.'));
    },
  });
  return places;
}
