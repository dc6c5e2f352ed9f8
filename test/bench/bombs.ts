/** A request that is small for whom sends it, and would be much work for whom answers it. Each is to be refused. */
export interface Bomb {
  readonly name: string;
  /** The body of `POST /graphql`, as it is sent. */
  readonly body: string;
}

const MIB = 1024 * 1024;

const times = (count: number, text: (n: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, n) => text(n)).join(between);
const nested = (count: number, open: string, inside: string, close = '}'): string =>
  `${open.repeat(count)}${inside}${close.repeat(count)}`;
const chain = (count: number): string =>
  `{ ...F0 } ${times(count, (n) => `fragment F${n} on Query { ...F${n + 1} }`)} fragment F${count} on Query { __typename }`;
const doubling = (count: number, on = 'Project'): string =>
  `{ projects { nodes { ...F0 } } } ${times(count, (n) => `fragment F${n} on ${on} { ...F${n + 1} ...F${n + 1} }`)} fragment F${count} on ${on} { id }`;
const cycle = (count: number): string =>
  `{ ...F0 } ${times(count, (n) => `fragment F${n} on Query { projects { nodes { id } } ...F${(n + 1) % count} }`)}`;

/** Texts without variables. */
const TEXTS: Readonly<Record<string, string>> = {
  'fragments that double, 29': doubling(29),
  'fragments that double, 200': doubling(200),
  'fragments that double with fields, 11': `{ projects { nodes { environments { ...F0 } } } } ${times(11, (n) => `fragment F${n} on Environment { secrets { nodes { ...G${n} } } } fragment G${n} on Secret { id ...G${n + 1} ...G${n + 1} }`)} fragment G11 on Secret { id }`,
  'a chain of 29 fragments below a field that is none': chain(29).replace('__typename', 'nothing'),
  'a chain of 250 fragments': chain(250),
  'a chain of 10,000 fragments': chain(10_000),
  'a fragment in itself': '{ ...F } fragment F on Query { projects { nodes { id } } ...F }',
  'a cycle of 25 fragments': cycle(25),
  'a cycle of 10,000 fragments': cycle(10_000),
  'a cycle through fields':
    '{ projects { nodes { ...F } } } fragment F on Project { tags { nodes { id } } environments { ...G } } fragment G on Environment { secrets { nodes { ...G } } ...F }',
  'inline fragments, 200 x 100': `{ projects { nodes { ${times(200, () => `... on Project { ${times(100, () => '... on Project { id }')} }`)} } } }`,
  'inline fragments, 20 x 15': `{ projects { nodes { ${times(20, () => `... on Project { ${times(15, () => '... on Project { id }')} }`)} } } }`,
  'inline fragments inside one another, 600': `{ ${nested(600, '... on Query { ', '__typename')} }`,
  'one field 300 times': `{ ${times(300, () => 'projects { nodes { id } }')} }`,
  'one field 11 times on each of 3 levels': `{ ${times(11, () => `projects { ${times(11, () => 'nodes { id }')} }`)} }`,
  'one leaf 1,900 times': `{ projects { nodes { ${times(1_900, () => 'id')} } } }`,
  'one leaf 51 times through fragments': `{ ${times(17, (n) => `...F${n}`)} } ${times(17, (n) => `fragment F${n} on Query { __typename __typename __typename }`)}`,
  '1,000 aliases': `{ ${times(1_000, (n) => `a${n}: __typename`)} }`,
  '31 mutations under aliases': `mutation { ${times(31, (n) => `a${n}: createTag(input: { projectId: "x", slug: "s${n}", color: "#000000" }) { tag { id } }`)} }`,
  '1,000 directives on a field': `{ __typename ${times(1_000, () => '@include(if: true)')} }`,
  '5,000 directives that are none': `query ${times(5_000, () => '@x')} { __typename }`,
  'fields 13 deep': `{ projects { nodes { ${nested(10, 'environments { ', 'id')} } } }`,
  'fields 5,000 deep': nested(5_000, '{ a ', '{ a }'),
  '1 MiB of braces': '{'.repeat(MIB - 64),
  'brackets in a value, 1,000 deep': `{ project(id: ${nested(1_000, '[', '1', ']')}) { id } }`,
  'objects in a value, 1,000 deep': `{ project(id: ${nested(1_000, '{ a: ', '1')}) { id } }`,
  'brackets in a type, 1,000 deep': `query ($v: ${nested(1_000, '[', 'Int', ']')}) { __typename }`,
  '1 MiB of commas': `{ __typename ${','.repeat(MIB - 64)} }`,
  '1 MiB of comments': `{ __typename } ${'#\n'.repeat(MIB / 4)}`,
  'a text of 900 KiB': `{ project(id: "${'x'.repeat(900 * 1024)}") { id } }`,
  'a block text of 30 KiB lines': `{ project(id: """${'\\n '.repeat(7_000)}""", nope: 1) { id } }`,
  'a number of 30,000 digits': `{ projects(first: ${'9'.repeat(30_000)}) { nodes { id } } }`,
  'a name of 30,000 letters': `{ ${'x'.repeat(30_000)} }`,
  '400 fields that are none': `{ projects { nodes { ${times(400, (n) => `nam${n}`)} } } }`,
  '400 arguments that are none': `{ projects(${times(400, (n) => `firs${n}: 1`)}) { nodes { id } } }`,
  '400 variables that are not used': `query (${times(400, (n) => `$v${n}: ID`)}) { __typename }`,
  '130 types that nearly are some': `query (${times(130, (n) => `$v${n}: CreateSecretRotatioInpt${n}`)}) { __typename }`,
  '2 operations, and none picked': 'query A { __typename } query B { __typename }',
  '11 operations': times(11, (n) => `query Q${n} { __typename }`),
  '10 operations with 10 cycles through each other': `${times(10, (n) => `query Q${n} { ...F${n} }`)} ${times(10, (n) => `fragment F${n} on Query { projects { nodes { id } } ...F${(n + 1) % 10} }`)}`,
  '10 operations that spread what doubles': `${times(10, (n) => `query Q${n} { projects { nodes { ...F0 } } }`)} ${times(19, (n) => `fragment F${n} on Project { ...F${n + 1} ...F${n + 1} }`)} fragment F19 on Project { id }`,
  '10 operations of 30 fields that share places': times(
    10,
    (n) => `query Q${n} { ${times(30, () => 'projects { nodes { id } }')} }`,
  ),
  '300 operations': times(300, (n) => `query Q${n} { __typename }`),
  '200 type definitions': times(200, (n) => `type T${n} { a: Int }`),
  'a product of large pages':
    '{ projects(first: 1000) { nodes { environments { secrets { nodes { versions(first: 100) { nodes { version } } } } } } } }',
  'the schema, types of fields of types': `{ __schema { types { ${nested(9, 'fields { type { ', 'name', '} }')} } } }`,
  'the schema 30 times': `{ ${times(30, (n) => `a${n}: __schema { types { fields { type { name ofType { name } } args { type { name } } } } }`)} }`,
  'types of types, 40 deep': `{ __type(name: "Query") { ${nested(40, 'ofType { ', 'name')} } }`,
};

const NUMBER = 'query ($v: Int) { projects(first: $v) { nodes { id } } }';
const INPUT = 'mutation ($v: CreateSecretsInput!) { createSecrets(input: $v) { secrets { id } } }';

const NEAR_KEYS = Array.from({ length: 20 }, (_, n) => `secretMetadat${String.fromCharCode(97 + n)}q`);

/** Documents whose weight is in operations that do not run. */
const UNPICKED: Readonly<Record<string, string>> = {
  'doubling fragments':
    times(2, (n) => `query U${n} { projects { nodes { ...D0 } } }`) +
    ' ' +
    times(19, (n) => `fragment D${n} on Project { ...D${n + 1} ...D${n + 1} }`) +
    ' fragment D19 on Project { id }',
  'a cycle': 'query U { ...C } fragment C on Query { projects { nodes { id } } ...C }',
  'fields that share places': `query U { ${times(300, () => 'projects { nodes { id } }')} }`,
  '1,000 aliases': `query U { ${times(1_000, (n) => `a${n}: __typename`)} }`,
  'deep fragments': `query U { projects { nodes { environments { ...E0 } } } } ${times(28, (n) => `fragment E${n} on Environment { project { environments { ...E${n + 1} } } }`)} fragment E28 on Environment { nothing }`,
  '10 more': times(10, (n) => `query U${n} { __typename }`),
};

/** Requests whose weight is not in the text. */
const BODIES: Readonly<Record<string, string>> = {
  'a batch of 1,000': JSON.stringify(Array(1_000).fill({ query: '{ __typename }' })),
  'a variable of 900 KiB': JSON.stringify({ query: NUMBER, variables: { v: 'x'.repeat(900 * 1024) } }),
  'a variable with 100,000 wrong entries': JSON.stringify({
    query: INPUT,
    variables: { v: { secrets: Array(100_000).fill(1) } },
  }),
  'a variable with 300,000 empty entries': JSON.stringify({
    query: INPUT,
    variables: { v: { secrets: Array(300_000).fill({}) } },
  }),
  'a variable with 50,000 keys that nearly are some': JSON.stringify({
    query: INPUT,
    variables: { v: { secrets: Array(2_500).fill(Object.fromEntries(NEAR_KEYS.map((key) => [key, 1]))) } },
  }),
  'a variable with 50,000 keys that are none': JSON.stringify({
    query: INPUT,
    variables: { v: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])) },
  }),
  'a variable of 400,000 brackets': `{"query":${JSON.stringify(NUMBER)},"variables":{"v":${nested(400_000, '[', '1', ']')}}}`,
  'a page size beyond numbers': `{"query":${JSON.stringify(NUMBER)},"variables":{"v":1e999}}`,
  'an id of 900 KiB': JSON.stringify({ documentId: 'x'.repeat(900 * 1024) }),
};

/** The corpus. */
export const BOMBS: readonly Bomb[] = [
  ...Object.entries(TEXTS).map(([name, query]) => ({ name, body: JSON.stringify({ query }) })),
  ...Object.entries(UNPICKED).map(([name, text]) => ({
    name: `an operation beside ${name}`,
    body: JSON.stringify({ query: `query Picked { __typename } ${text}`, operationName: 'Picked' }),
  })),
  ...Object.entries(BODIES).map(([name, body]) => ({ name, body })),
];
