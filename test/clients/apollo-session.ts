// A session of Apollo Client with automatic persisted queries. Arguments: the service's address and a token.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { relayStylePagination } from '@apollo/client/utilities';

const [url = '', token = ''] = process.argv.slice(2);

/** What went over the wire: whether there was a text, and a hash. */
const sent: { readonly text: boolean; readonly hash: boolean; readonly code: string | undefined }[] = [];

async function spied(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const { query, extensions } = JSON.parse(String(init?.body));
  const response = await fetch(input, init);
  const { errors } = (await response.clone().json()) as { errors?: { extensions: { code: string } }[] };
  const hash = extensions?.persistedQuery !== undefined;
  sent.push({ text: query !== undefined, hash, code: errors?.[0]?.extensions.code });
  return response;
}

const client = new ApolloClient({
  cache: new InMemoryCache({
    typePolicies: { Query: { fields: { secrets: relayStylePagination(['projectId', 'environment']) } } },
  }),
  link: ApolloLink.from([
    new PersistedQueryLink({ sha256: (text) => createHash('sha256').update(text).digest('hex') }),
    new HttpLink({ uri: `${url}/graphql`, fetch: spied, headers: { authorization: `Bearer ${token}` } }),
  ]),
});

const { data: created } = await client.mutate<{ createProject: { project: { id: string } } }>({
  mutation: gql`
    mutation CreateProject($input: CreateProjectInput!) {
      createProject(input: $input) {
        project {
          id
          name
        }
      }
    }
  `,
  variables: { input: { name: 'Apollo Client' } },
});
const projectId = created?.createProject.project.id;
ok(projectId);
// The hash alone was refused in the form that the client knows, and it goes on without hashes.
deepEqual(sent.splice(0), [
  { text: false, hash: true, code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
  { text: true, hash: false, code: undefined },
]);

const CREATE = gql`
  mutation CreateSecret($input: CreateSecretInput!) {
    createSecret(input: $input) {
      secret {
        id
        secretKey
      }
    }
  }
`;
for (const secretKey of ['A', 'B', 'C']) {
  const input = { projectId, environment: 'dev', secretKey, secretValue: 'correct horse' };
  await client.mutate({ mutation: CREATE, variables: { input } });
}
deepEqual([...new Set(sent.map(({ hash }) => hash))], [false]);

interface Secret {
  readonly id: string;
  readonly secretKey: string;
  readonly secretComment: string;
}
interface Listed {
  readonly secrets: {
    readonly edges: { node: Secret }[];
    readonly pageInfo: { hasNextPage: boolean; endCursor: string };
  };
}
const LIST = gql`
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
const { data: first } = await client.query<Listed>({ query: LIST, variables: { projectId } });
const after = first?.secrets.pageInfo.endCursor;
ok(after);
await client.query<Listed>({ query: LIST, variables: { projectId, after }, fetchPolicy: 'network-only' });
const merged = client.readQuery<Listed>({ query: LIST, variables: { projectId } });
deepEqual(
  merged?.secrets.edges.map(({ node }) => node.secretKey),
  ['A', 'B', 'C'],
);
equal(merged?.secrets.pageInfo.hasNextPage, false);

// One object of the cache for each id: what a change answers shows in the list, without another request.
const id = merged?.secrets.edges[2]?.node.id;
await client.mutate({
  mutation: gql`
    mutation UpdateSecret($input: UpdateSecretInput!) {
      updateSecret(input: $input) {
        secret {
          id
          secretComment
        }
      }
    }
  `,
  variables: { input: { id, secretComment: 'changed' } },
});
const before = sent.length;
const { data: again } = await client.query<Listed>({
  query: LIST,
  variables: { projectId },
  fetchPolicy: 'cache-only',
});
equal(again?.secrets.edges[2]?.node.secretComment, 'changed');
equal(sent.length, before);
ok((client.cache.extract() as Record<string, unknown>)[`Secret:${id}`]);
