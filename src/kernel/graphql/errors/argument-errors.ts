import {
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import { PermissionDenied } from '../../authz/ability.js';
import { AppError, type ErrorDetail, withDetails } from '../../errors.js';
import { enumName } from '../../names.js';

type Field = GraphQLField<unknown, unknown>;

/**
 * What a service threw, in the words of the schema. Services know the fields of an input, and not that it is the argument `input`:
 * paths of faults in it begin with that. They name the choices that a value has as REST does, `describeSecret`: the schema as an enum.
 */
export function inArguments(field: Field, error: unknown): unknown {
  if (!(error instanceof AppError) || error instanceof PermissionDenied || error.details === undefined) return error;
  const fields = fieldsOf(field.args.find(({ name }) => name === 'input')?.type);
  return withDetails(error, (detail) => {
    const [name = ''] = /^\w+(?=[.[]|$)/.exec(detail.path) ?? [];
    const path = fields.has(name) ? `input.${detail.path}` : detail.path;
    const reported = { ...detail, path };
    return detail.code === 'INVALID_VALUE' ? inEnumNames(reported, enumAt(field, path)) : reported;
  });
}

const fieldsOf = (type: GraphQLInputType | undefined): ReadonlyMap<string, GraphQLInputType> => {
  const named = type === undefined ? undefined : getNamedType(type);
  if (!isInputObjectType(named)) return new Map();
  return new Map(Object.values(named.getFields()).map((field) => [field.name, field.type]));
};

/** The enum that a place takes, `input.permissions[0].action[1]`. */
function enumAt({ args }: Field, path: string): GraphQLEnumType | undefined {
  const [first, ...names] = path.replace(/\[\d+\]/g, '').split('.');
  let type = args.find(({ name }) => name === first)?.type;
  for (const name of names) type = fieldsOf(type).get(name);
  const named = type === undefined ? undefined : getNamedType(type);
  return isEnumType(named) ? named : undefined;
}

/** Texts that have choices stay as they are: conditions name actions as stored rules do. */
function inEnumNames(detail: ErrorDetail, type: GraphQLEnumType | undefined): ErrorDetail {
  const names = detail.message
    .replace(/^must be /, '')
    .split(' or ')
    .map(enumName);
  const isOfEnum = names.every((name) => type?.getValue(name) !== undefined);
  return isOfEnum ? { ...detail, message: `must be ${names.join(' or ')}` } : detail;
}
