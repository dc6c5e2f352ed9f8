// A session over REST in the types that openapi-typescript made. Arguments: the service's address and a token.
import { ok } from 'node:assert';
import { equal } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './generated/rest.ts';

const [baseUrl = '', token = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

const created = await client.POST('/api/v1/projects', { body: { projectName: 'Generated REST client' } });
const project = created.data?.project;
ok(project, JSON.stringify(created.error));

const place = { projectId: project.id, environment: 'dev' };
const written = await client.POST('/api/v4/secrets/{secretName}', {
  params: { path: { secretName: 'API_KEY' } },
  body: { ...place, secretValue: 'correct horse' },
});
equal(written.response.status, 200, JSON.stringify(written.error));

const listed = await client.GET('/api/v4/secrets', { params: { query: place } });
equal(
  listed.data?.secrets.map(({ secretKey, secretValue }) => `${secretKey}=${secretValue}`).join(),
  'API_KEY=correct horse',
);

const missing = await client.GET('/api/v1/projects/{projectId}', {
  params: { path: { projectId: '00000000-0000-4000-8000-000000000000' } },
});
equal(missing.error?.code, 'PROJECT_NOT_FOUND');
ok(missing.error.reqId);
