// A session over GraphQL in the types that graphql-codegen made. Arguments: the service's address and a token.
import { ok } from 'node:assert';
import { equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, print, separateOperations } from 'graphql';
import type {
  CreateProjectMutation,
  CreateProjectMutationVariables,
  CreateSecretMutation,
  CreateSecretMutationVariables,
  SecretsQuery,
  SecretsQueryVariables,
} from './generated/graphql.ts';

const [url = '', token = ''] = process.argv.slice(2);
const documents = separateOperations(parse(readFileSync(join(import.meta.dirname, 'session.graphql'), 'utf8')));

async function send<Data, Variables>(operation: string, variables: Variables): Promise<Data> {
  const document = documents[operation];
  ok(document);
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: print(document), variables }),
  });
  const { data, errors } = (await response.json()) as { data?: Data; errors?: { message: string }[] };
  if (data === undefined || errors !== undefined) throw new Error(`${operation}: ${JSON.stringify(errors)}`);
  return data;
}

const { createProject } = await send<CreateProjectMutation, CreateProjectMutationVariables>('CreateProject', {
  input: { name: 'Generated GraphQL client' },
});
const project = createProject?.project;
ok(project);
equal(project.environments.map(({ slug }) => slug).join(), 'dev,staging,prod');

const { createSecret } = await send<CreateSecretMutation, CreateSecretMutationVariables>('CreateSecret', {
  input: { projectId: project.id, environment: 'dev', secretKey: 'API_KEY', secretValue: 'correct horse' },
});
equal(createSecret?.secret.version, 1);

const { secrets } = await send<SecretsQuery, SecretsQueryVariables>('Secrets', { projectId: project.id, first: 10 });
ok(secrets);
equal(secrets.nodes.map(({ secretKey, secretValue }) => `${secretKey}=${secretValue}`).join(), 'API_KEY=correct horse');
equal(secrets.pageInfo.hasNextPage, false);
