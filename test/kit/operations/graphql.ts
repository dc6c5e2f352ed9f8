import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { FIELDS, OF_INSTALLATION, OF_SCHEMA } from './fields.js';
import { kebabCase, NOUNS, valueNamed } from './names.js';
import { fill, type GraphQLOperation, type Operation, thingsIn, type Values } from './operation.js';

type Field = GraphQLField<unknown, unknown>;

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));

/** The types of the root fields, for what is to be checked of all of them. */
export const rootTypes = (): { Query: GraphQLObjectType; Mutation: GraphQLObjectType } => ({
  Query: SCHEMA.getQueryType() as GraphQLObjectType,
  Mutation: SCHEMA.getMutationType() as GraphQLObjectType,
});

/** All types of objects. */
export const objectTypes = (): GraphQLObjectType[] => Object.values(SCHEMA.getTypeMap()).filter(isObjectType);

const QUERIES = rootTypes().Query.getFields();
const MUTATIONS = rootTypes().Mutation.getFields();
const ROOT_FIELDS: Readonly<Record<string, Field>> = { ...QUERIES, ...MUTATIONS };

for (const name of Object.keys(FIELDS))
  if (!(name in ROOT_FIELDS)) throw new Error(`fields.ts has a row for ${name}, which the schema does not have`);

/** A request for every root field of the schema, but for those of the installation admin and the schema, which have tests of their own. */
export const GRAPHQL: readonly GraphQLOperation[] = Object.values(ROOT_FIELDS)
  .filter(({ name }) => ![...OF_INSTALLATION, ...OF_SCHEMA].includes(name))
  .map(operationOf);

/** The names that a query takes as arguments, and a mutation in its `input`; and whether it requires them. */
export function takenBy(field: string): ReadonlyMap<string, boolean> {
  const [input] = MUTATIONS[field]?.args ?? [];
  if (input === undefined) return new Map(QUERIES[field]?.args.map((it) => [it.name, isRequiredArgument(it)]));
  const fields = Object.values((getNamedType(input.type) as GraphQLInputObjectType).getFields());
  return new Map(fields.map((it) => [it.name, isRequiredInputField(it)]));
}

function operationOf({ name: field, type }: Field): GraphQLOperation {
  const { args: stated = {}, inRest: _, ...row } = FIELDS[field] ?? {};
  const [verb, noun] = verbAndNoun(field, type);
  const [id, denied] = NOUNS[noun] ?? [];
  const denial = row.denial === undefined ? denied?.(verb) : row.denial;
  if (denial === undefined) throw new Error(`${field}: add ${noun} to NOUNS in names.ts, or its denial to fields.ts`);
  const missing = [...takenBy(field)].filter(([name, isRequired]) => isRequired && !(name in stated));
  const values = missing.map(([name]) => [name, name === 'id' ? id : valueNamed(name, field)] as const);
  for (const [name, value] of values)
    if (value == null) throw new Error(`${field}: add a value of ${name} to its row in fields.ts, or to names.ts`);
  return {
    audit: `${kebabCase(noun)}:${verb}`,
    ...row,
    denial,
    field,
    args: { ...Object.fromEntries(values), ...stated },
  };
}

/** `deleteSecretByKey` is `delete` of a `secret`; `secret` is `get`, and `secrets` is `list`. */
function verbAndNoun(name: string, type: GraphQLOutputType): readonly [verb: string, noun: string] {
  const [words = ''] = name.split(/By(?=[A-Z])/);
  const singular = words.replace(/ies$/, 'y').replace(/s$/, '');
  if (name in MUTATIONS) {
    const [, verb = '', first = '', rest = ''] = /^([a-z]+)(.)(.*)$/.exec(singular) ?? [];
    return [verb, first.toLowerCase() + rest];
  }
  const named = getNamedType(type);
  const isList = isListType(getNullableType(type)) || (isObjectType(named) && 'pageInfo' in named.getFields());
  return [isList ? 'list' : 'get', singular];
}

/**
 * These can have audit rows of their own below another root field: they disclose sealed values or a part of them, or list projects,
 * alerts, certificates, messages, logins or who read a secret.
 */
const AUDITED_INSIDE =
  /^(Certificate\.alerts|CertificateAlert\.(message|certificate)(s|Connection)|(Environment|Folder)\.secret(s|Connection)|(Move|Copy)SecretsPayload\.secrets|Project\.(certificate(s|Connection|Alerts|AlertConnection)|notification(Message|Channel)(s|Connection))|NotificationChannel\.message(s|Connection)|Identity\.(alerts|logins)|Secret\.(references|read(s|Connection))|[A-Za-z]+\.secret|Organization\.project(s|Connection)|[A-Za-z]+\.project)$/;

/**
 * The document of a root field, with its arguments as variables. It selects everything three levels deep that needs no argument; of a
 * type inside of itself, and of an interface, only its own values.
 */
export function graphqlDocument(operation: GraphQLOperation): { readonly document: string; readonly args: Values } {
  const changes = operation.field in MUTATIONS;
  const field = ROOT_FIELDS[operation.field] as Field;
  const args = changes ? { input: operation.args } : operation.args;
  const used = field.args.filter(({ name }) => name in args);
  const declared = used.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = used.map(({ name }) => `${name}: $${name}`).join(', ');
  const document =
    `${changes ? 'mutation' : 'query'}${declared && ` (${declared})`} ` +
    `{ ${field.name}${given && `(${given})`} ${selection(field.type, 3)} }`;
  return { document, args };
}

/** The fields, as requests to be sent. */
export const graphqlOperations = (): Operation[] =>
  GRAPHQL.map((operation) => {
    const { document, args } = graphqlDocument(operation);
    const changes = document.startsWith('mutation');
    return {
      ...operation,
      name: `${changes ? 'mutation' : 'query'} ${operation.field}`,
      changes,
      things: thingsIn(args),
      send: (caller, ids, headers) => caller.graphql(document, fill(args, ids), headers),
    };
  });

function selection(type: GraphQLOutputType, depth: number, above: readonly string[] = []): string {
  const named = getNamedType(type);
  if (isInterfaceType(named)) {
    const leaves = Object.values(named.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
    return `{ __typename ${leaves.map(({ name }) => name).join(' ')} }`;
  }
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields())
    .filter((field) => !field.args.some(isRequiredArgument) && !AUDITED_INSIDE.test(`${named.name}.${field.name}`))
    .filter((field) => isLeafType(getNamedType(field.type)) || (depth > 0 && !above.includes(named.name)))
    .map((field) => `${field.name} ${selection(field.type, depth - 1, [...above, named.name])}`);
  return `{ __typename ${fields.join(' ')} }`;
}
