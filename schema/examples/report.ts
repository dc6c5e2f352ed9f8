// Which secrets of production have an old value, and who can read each of them, by which role: in all projects, one trip for 200 secrets.
//
//   npm install @urql/core gql.tada
//   npx gql.tada generate-output    (or the types that your build makes of schema.graphql)
//   node report.ts https://strongroom.example.com 90       with a token in STRONGROOM_TOKEN
import { Client, fetchExchange, type OperationResult } from '@urql/core';
import { initGraphQLTada, type ResultOf } from 'gql.tada';
import type { introspection } from './generated/graphql-env.d.ts';

const graphql = initGraphQLTada<{ introspection: introspection; scalars: { DateTime: string } }>();

const OLD_SECRETS = graphql(`
  query OldSecrets($before: DateTime!, $after: String) {
    searchSecrets(input: { environments: ["prod"], valueChangedBefore: $before }, first: 200, after: $after) {
      nodes {
        project { name }
        secret { secretPath secretKey valueChangedAt readers { nodes { name origin { slug } } } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Page = ResultOf<typeof OLD_SECRETS>;
type Hit = NonNullable<Page['searchSecrets']>['nodes'][number];

const [url = 'http://127.0.0.1:4000', days = '90'] = process.argv.slice(2);
const client = new Client({
  url: `${url}/graphql`,
  preferGetMethod: false,
  fetchOptions: { headers: { authorization: `Bearer ${process.env.STRONGROOM_TOKEN}` } },
  exchanges: [fetchExchange],
});

const before = new Date(Date.now() - Number(days) * 86_400_000).toISOString();
const hits: Hit[] = [];
let trips = 0;
let after: string | null = null;
let isMore = true;
while (isMore) {
  const { data, error }: OperationResult<Page> = await client.query(OLD_SECRETS, { before, after });
  trips += 1;
  if (data?.searchSecrets == null) throw error ?? new Error('there is no data');
  hits.push(...data.searchSecrets.nodes);
  ({ hasNextPage: isMore, endCursor: after } = data.searchSecrets.pageInfo);
}

for (const { project, secret } of hits) {
  // Null if the token may not read members and roles.
  const readers =
    secret.readers?.nodes.map(({ name, origin }) => `${name} (${origin.slug})`).join(', ') ?? 'not shown to this token';
  console.log(`${project?.name}\t${secret.secretPath}\t${secret.secretKey}\t${secret.valueChangedAt}\t${readers}`);
}
console.error(`${hits.length} secrets in ${trips} ${trips === 1 ? 'trip' : 'trips'}`);
