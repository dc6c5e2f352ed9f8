// A session of Relay on what its compiler made. Arguments: the service's address and a token.
import { deepEqual, equal, ok } from 'node:assert/strict';
import relay, { type GraphQLResponse, type MutationParameters } from 'relay-runtime';
import CreateProject, {
  type relayDocumentsCreateProjectMutation,
} from './generated/relay/relayDocumentsCreateProjectMutation.graphql.ts';
import CreateSecret, {
  type relayDocumentsCreateSecretMutation,
} from './generated/relay/relayDocumentsCreateSecretMutation.graphql.ts';
import RefetchSecret, {
  type relayDocumentsSecretRefetchQuery,
} from './generated/relay/relayDocumentsSecretRefetchQuery.graphql.ts';
import Secrets, { type relayDocumentsSecretsQuery } from './generated/relay/relayDocumentsSecretsQuery.graphql.ts';
import UpdateSecret, {
  type relayDocumentsUpdateSecretMutation,
} from './generated/relay/relayDocumentsUpdateSecretMutation.graphql.ts';

const { commitMutation, createOperationDescriptor, Environment, fetchQuery, getRequest, Network, RecordSource, Store } =
  relay;
const [url = '', token = ''] = process.argv.slice(2);
let requests = 0;

const environment = new Environment({
  store: new Store(new RecordSource()),
  network: Network.create(async ({ text }, variables) => {
    requests += 1;
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    });
    return (await response.json()) as GraphQLResponse;
  }),
});

const change = <Of extends MutationParameters>(mutation: object, variables: Of['variables']): Promise<Of['response']> =>
  new Promise((onCompleted, onError) => {
    commitMutation<Of>(environment, {
      mutation: mutation as never,
      variables,
      onCompleted: (response, errors) => (errors?.length ? onError(errors) : onCompleted(response)),
      onError,
    });
  });

const { createProject } = await change<relayDocumentsCreateProjectMutation>(CreateProject, {
  input: { name: 'Relay' },
});
const projectId = createProject?.project.id;
ok(projectId);
const create = (secretKey: string, connections: string[] = []) =>
  change<relayDocumentsCreateSecretMutation>(CreateSecret, {
    input: { projectId, environment: 'dev', secretKey, secretValue: 'correct horse' },
    connections,
  });
for (const secretKey of ['A', 'B', 'C']) await create(secretKey);

/** The list as the store has it, merged of all pages. */
function inStore(): NonNullable<relayDocumentsSecretsQuery['response']['secrets']> {
  const operation = createOperationDescriptor(getRequest(Secrets), { projectId, first: 2 });
  const { data } = environment.lookup(operation.fragment);
  const { secrets } = data as relayDocumentsSecretsQuery['response'];
  ok(secrets);
  return secrets;
}
const keys = (): string[] => inStore().edges.map(({ node }) => node.secretKey);

await fetchQuery<relayDocumentsSecretsQuery>(environment, Secrets, { projectId, first: 2 }).toPromise();
deepEqual(keys(), ['A', 'B']);
const { endCursor, hasNextPage } = inStore().pageInfo;
equal(hasNextPage, true);
await fetchQuery<relayDocumentsSecretsQuery>(environment, Secrets, {
  projectId,
  first: 2,
  after: endCursor ?? null,
}).toPromise();
deepEqual(keys(), ['A', 'B', 'C']);
equal(inStore().pageInfo.hasNextPage, false);

// A new secret stands in the list, and one object of the store stands for each id.
await create('D', [inStore().__id]);
deepEqual(keys(), ['A', 'B', 'C', 'D']);
const id = inStore().edges[3]?.node.id;
ok(id);
const before = requests;
await change<relayDocumentsUpdateSecretMutation>(UpdateSecret, { input: { id, secretComment: 'changed' } });
equal(inStore().edges[3]?.node.secretComment, 'changed');
equal(requests, before + 1);

// Fragments are asked for again by `node(id)`.
await fetch(`${url}/api/v4/secrets/D`, {
  method: 'PATCH',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ projectId, environment: 'dev', secretComment: 'changed elsewhere' }),
});
await fetchQuery<relayDocumentsSecretRefetchQuery>(
  environment,
  RefetchSecret,
  { id },
  { fetchPolicy: 'network-only' },
).toPromise();
equal(inStore().edges[3]?.node.secretComment, 'changed elsewhere');
