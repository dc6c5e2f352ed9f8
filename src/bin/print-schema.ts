import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import packageJson from '../../package.json' with { type: 'json' };
import { assemble } from '../app.js';
import type { NodeKind } from '../kernel/graphql/node.js';
import { printSortedSchema } from '../kernel/graphql/schema.js';
import { compileRoutes } from '../rest/compile.js';
import { openapiText } from '../rest/openapi/document.js';

// `npm run schema`: writes `schema.graphql`, `subgraph.graphql` and `openapi.json` from the code, into `schema/` or the directory named.

/** Types that other subgraphs have as well, with the same fields. */
const SHARED_TYPES = ['PageInfo'];

const HEAD = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT
`;

/** The schema with the directives of Apollo Federation 2: what other subgraphs extend has its keys. */
function subgraphText(schema: GraphQLSchema, kinds: readonly NodeKind[]): string {
  const sorted = lexicographicSortSchema(schema);
  const mark = (name: string, directives: Readonly<Record<string, unknown>>): void => {
    const type = sorted.getType(name);
    if (type === undefined) throw new Error(`the schema has no type ${name}`);
    type.extensions = { ...type.extensions, directives };
  };
  for (const { type, naturalKey } of kinds)
    mark(type, { key: ['id', naturalKey?.field].flatMap((fields) => (fields === undefined ? [] : [{ fields }])) });
  for (const name of SHARED_TYPES) mark(name, { shareable: {} });
  return `${HEAD}\n${printSubgraphSchema(sorted)}\n`;
}

const directory = process.argv[2] ?? 'schema';
const { schema, nodeKinds, routes, groups } = assemble();
const { version } = packageJson;
await mkdir(directory, { recursive: true });
await writeFile(join(directory, 'schema.graphql'), printSortedSchema(schema));
await writeFile(join(directory, 'subgraph.graphql'), subgraphText(schema, nodeKinds));
await writeFile(join(directory, 'openapi.json'), openapiText(compileRoutes(schema, routes), { version, groups }));
