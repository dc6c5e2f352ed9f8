import {
  coerceInputValue,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import type { ErrorDetail } from '../../errors.js';
import type { Variables } from './judge.js';

/** So many are told. */
const MOST_FAULTS = 50;
const ENOUGH = Symbol('enough faults');

/**
 * What does not fit in the values of an operation's variables, before GraphQL looks for itself: it writes the whole value into
 * the message of each fault, which takes it 14 s for 1 MiB of keys that its type does not have.
 */
export function variableFaults(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: Variables,
): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  try {
    for (const definition of variableDefinitions) addFaults(faults, schema, definition, values);
  } catch (thrown) {
    if (thrown !== ENOUGH) throw thrown;
  }
  return faults;
}

function addFaults(
  faults: ErrorDetail[],
  schema: GraphQLSchema,
  { variable, type: typeNode }: VariableDefinitionNode,
  values: Variables,
): void {
  const name = variable.name.value;
  const type = typeFromAST(schema, typeNode);
  // What is missing altogether is quickly told by GraphQL.
  if (!Object.hasOwn(values, name) || !isInputType(type)) return;
  const onFault = (path: readonly (string | number)[], _value: unknown, { message }: Error): void => {
    faults.push(faultOf([name.slice(0, 40), ...path], message));
    if (faults.length >= MOST_FAULTS) throw ENOUGH;
  };
  coerceInputValue(values[name], type, onFault, true);
}

function faultOf(path: readonly (string | number)[], message: string): ErrorDetail {
  const place = path.reduce<string>((at, key) => {
    if (typeof key === 'number') return `${at}[${key}]`;
    return at === '' ? key : `${at}.${key}`;
  }, '');
  const missing = /^Field "(\w{1,40})" of required type "[\w![\]]+" was not provided\.$/.exec(message)?.[1];
  if (missing !== undefined) return { path: `${place}.${missing}`, code: 'MISSING', message: 'must be given' };
  if (/ is not defined by type "\w+"\.$/.test(message))
    return {
      path: place,
      code: 'UNKNOWN_KEY',
      message: 'has a field that its type does not; see the schema for what is there',
    };
  return { path: place, code: 'INVALID_TYPE', message: 'does not fit the type that the schema names' };
}
