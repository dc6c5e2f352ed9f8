// A session of urql with its normalized cache and automatic persisted queries. Arguments: the service's address and a token.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { Client, type CombinedError, fetchExchange, gql } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { persistedExchange } from '@urql/exchange-persisted';

const [url = '', token = ''] = process.argv.slice(2);

/** What went over the wire: the hash alone, or a text. */
const sent: string[] = [];

const client = new Client({
  url: `${url}/graphql`,
  preferGetMethod: false,
  fetchOptions: { headers: { authorization: `Bearer ${token}` } },
  fetch: async (input, init) => {
    const { query } = JSON.parse(String(init?.body));
    sent.push(query === undefined ? 'hash' : 'text');
    return fetch(input, init);
  },
  exchanges: [
    cacheExchange({ resolvers: { Query: { secrets: relayPagination() } } }),
    persistedExchange({ preferGetForPersistedQueries: false, enableForMutation: true }),
    fetchExchange,
  ],
});

function succeeded<Data>({ data, error }: { data?: Data; error?: CombinedError }): Data {
  if (data == null || error !== undefined) throw error ?? new Error('there is no data');
  return data;
}

const { createProject } = succeeded(
  await client.mutation<{ createProject: { project: { id: string } } }>(
    gql`
      mutation CreateProject($input: CreateProjectInput!) {
        createProject(input: $input) {
          project {
            id
          }
        }
      }
    `,
    { input: { name: 'urql' } },
  ),
);
const projectId = createProject.project.id;
deepEqual(sent.splice(0), ['hash', 'text']);

const CREATE = gql`
  mutation CreateSecret($input: CreateSecretInput!) {
    createSecret(input: $input) {
      secret {
        id
      }
    }
  }
`;
for (const secretKey of ['A', 'B', 'C'])
  succeeded(
    await client.mutation(CREATE, {
      input: { projectId, environment: 'dev', secretKey, secretValue: 'correct horse' },
    }),
  );
deepEqual([...new Set(sent)], ['text']);

interface Listed {
  readonly secrets: {
    readonly edges: { node: { id: string; secretKey: string; secretComment: string } }[];
    readonly pageInfo: { hasNextPage: boolean; endCursor: string };
  };
}
const LIST = gql<Listed>`
  query Secrets($projectId: ID!, $after: String) {
    secrets(projectId: $projectId, environment: "dev", first: 2, after: $after) {
      edges {
        cursor
        node {
          id
          secretKey
          secretComment
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
`;
const first = succeeded(await client.query(LIST, { projectId }));
deepEqual(
  first.secrets.edges.map(({ node }) => node.secretKey),
  ['A', 'B'],
);
const second = succeeded(await client.query(LIST, { projectId, after: first.secrets.pageInfo.endCursor }));
deepEqual(
  second.secrets.edges.map(({ node }) => node.secretKey),
  ['A', 'B', 'C'],
);
equal(second.secrets.pageInfo.hasNextPage, false);

// One object of the cache for each id: what a change answers shows in the list, without another request.
const id = second.secrets.edges[0]?.node.id;
succeeded(
  await client.mutation(
    gql`
      mutation UpdateSecret($input: UpdateSecretInput!) {
        updateSecret(input: $input) {
          secret {
            id
            secretComment
          }
        }
      }
    `,
    { input: { id, secretComment: 'changed' } },
  ),
);
const before = sent.length;
const again = client.readQuery(LIST, { projectId });
equal(again?.data?.secrets.edges[0]?.node.secretComment, 'changed');
equal(sent.length, before);

// An error carries its code to the caller.
const { error } = await client.mutation(CREATE, { input: { projectId, environment: 'nowhere', secretKey: 'A' } });
ok(error);
equal(error.graphQLErrors[0]?.extensions.code, 'ENVIRONMENT_NOT_FOUND');
