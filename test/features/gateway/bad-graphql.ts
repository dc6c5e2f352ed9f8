import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { rootTypes } from '../../kit/operations/graphql.js';

/** The body of a request to `/graphql`, with a canary where the name says. */
export interface BadBody {
  readonly name: string;
  readonly body: unknown;
}

/** Documents and variables that the schema refuses, for every field of Query and Mutation, with a canary in each place. */
export function badGraphQL(canary: string): BadBody[] {
  return [
    ...Object.values(rootTypes()).flatMap((root) =>
      Object.values(root.getFields()).flatMap((field) => {
        const kind = root.name === 'Query' ? 'query' : 'mutation';
        const bad = [...documents(kind, field, canary), ...variables(kind, field, canary)];
        return bad.map(({ name, body }) => ({ name: `${kind} ${field.name}: ${name}`, body }));
      }),
    ),
    ...requests(canary),
  ];
}

type Field = ReturnType<GraphQLObjectType['getFields']>[string];

function documents(kind: string, { name, args, type }: Field, canary: string): BadBody[] {
  const selected = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
  const given = args.map((arg) => `${arg.name}: ${literal(arg.type)}`).join(', ');
  const call = `${name}${given && `(${given})`}`;
  const broken = args.flatMap((arg) =>
    [canary, `"${canary}"`, `"""${canary}"""`, `{ ${canary}: "${canary}" }`, `[${canary}]`, `$${canary}`, '7e99'].map(
      (value, at): [string, string] => [
        `argument ${arg.name}, literal ${at}`,
        `${kind} { ${name}(${arg.name}: ${value}) ${selected} ${canary} }`,
      ],
    ),
  );
  const texts: [string, string][] = [
    ['name of an argument', `${kind} { ${name}(${canary}: "${canary}")${selected} }`],
    ['name of a field', `${kind} { ${call} { ${canary} } }`],
    ['alias', `${kind} { ${canary}: ${call} { ${canary} } }`],
    ['name of a root field', `${kind} { ${canary} ${call}${selected} }`],
    ['directive', `${kind} { ${call} @${canary}(${canary}: "${canary}")${selected} }`],
    ['argument of a directive', `${kind} { ${call} @include(if: "${canary}", ${canary}: 1)${selected} }`],
    ['unknown fragment', `${kind} { ${call}${selected} ...${canary} }`],
    ['unused fragment', `${kind} { ${call}${selected} } fragment ${canary} on ${canary} { ${canary} }`],
    ['inline fragment', `${kind} { ${call} { ... on ${canary} { ${canary} } } }`],
    ['undeclared variable', `${kind} ${canary} { ${call} @skip(if: $${canary})${selected} }`],
    ['unused variable', `${kind} ($${canary}: String) { ${call}${selected} }`],
    ['type of a variable', `${kind} ($v: ${canary}) { ${call}${selected} }`],
    ['default of a variable', `${kind} ($v: Int = "${canary}") { ${call} @skip(if: $v)${selected} }`],
    ['what is no document', `${kind} { ${call} "${canary}" ${canary} `],
    ...broken,
  ];
  return texts.map(([place, query]) => ({ name: place, body: { query } }));
}

/** Something of the type, so that nothing but the canary is wrong. */
function literal(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literal(type.ofType);
  if (isListType(type)) return '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (!isInputObjectType(type)) return { Int: '1', Float: '1', Boolean: 'true' }[String(type)] ?? '"x"';
  const needed = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
  return `{ ${needed.map((field) => `${field.name}: ${literal(field.type)}`).join(', ')} }`;
}

function variables(kind: string, { name, args, type }: Field, canary: string): BadBody[] {
  const selected = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
  return args.flatMap((arg) => {
    const query = `${kind} ${canary}($${canary}: ${String(arg.type)}) { ${name}(${others(args, arg)}${arg.name}: $${canary})${selected} }`;
    return wrong(arg.type, canary, 4).map(([place, value]) => ({
      name: `variable ${arg.name}${place}`,
      body: { query, operationName: canary, variables: { [canary]: value } },
    }));
  });
}

const others = (args: readonly GraphQLArgument[], but: GraphQLArgument): string =>
  args
    .flatMap((arg) => (arg === but || !isNonNullType(arg.type) ? [] : [`${arg.name}: ${literal(arg.type)}, `]))
    .join('');

/** Values that are not of the type, each with the place in it: at every field of inputs, as deep as told. */
function wrong(type: GraphQLInputType, canary: string, depth: number): [place: string, value: unknown][] {
  if (isNonNullType(type)) return wrong(type.ofType, canary, depth);
  const object = { [canary]: canary, [`${canary} key`]: [canary] };
  if (isListType(type)) return wrong(type.ofType, canary, depth).map(([place, value]) => [`[]${place}`, [value]]);
  if (!isInputObjectType(type))
    return [[' as an object', object], ...(isEnumType(type) ? [[' as a text', canary] as [string, string]] : [])];
  const fields = depth === 0 ? [] : Object.values(type.getFields());
  return [
    [' as a text', canary],
    [' with unknown keys', object],
    ...fields.flatMap((field) =>
      wrong(field.type, canary, depth - 1).map(([place, value]): [string, unknown] => [
        `.${field.name}${place}`,
        { [field.name]: value, [canary]: canary },
      ]),
    ),
  ];
}

/** Of the request around a document. */
function requests(canary: string): BadBody[] {
  const query = '{ projects { nodes { id } } }';
  const texts = [
    canary,
    `"${canary}"`,
    `{ projects(type: "${canary}`,
    `query ${canary} { projects { nodes { id } } } query ${canary} { __typename }`,
    `{ projects { nodes { id } } # ${canary}\n ~`,
    `subscription ${canary} { ${canary} }`,
    `type ${canary} { ${canary}: String }`,
    `{ ...${canary} } fragment ${canary} on Query { ...${canary} }`,
    `{ a: projects(first: 1) { ${canary}: nodes { id } } a: projects(first: 2) { nodes { ${canary} } } }`,
    `"""${canary}""" { __typename }`,
  ];
  const bodies: unknown[] = [
    ...texts.map((text) => ({ query: text })),
    { query, operationName: canary },
    { query, operationName: { [canary]: canary } },
    { query, variables: canary },
    { query, variables: [canary] },
    { query, extensions: canary },
    { query: '', extensions: { [canary]: canary, persistedQuery: { version: 1, sha256Hash: canary } } },
    { query: { [canary]: canary } },
    { [canary]: canary },
    [{ query, [canary]: canary }],
    canary,
    { query: `query ($a: ID = "x") { project(id: $a) { id } }`, variables: { a: null, [canary]: canary } },
  ];
  return bodies.map((body, at) => ({ name: `request ${at}`, body }));
}
