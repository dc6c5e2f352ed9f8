import { randomUUID } from 'node:crypto';
import type { Request } from 'autocannon';
import { type Caller, mustSucceed } from '../kit/caller.ts';
import { Seed } from '../kit/seed.ts';
import { someAtATime } from '../kit/some-at-a-time.ts';
import type { Load } from './loads.ts';

const PROJECTS = 20;
/** The larger one has the secrets that are asked for one by one. */
export const LISTS = [100, 1_000] as const;
const COMPOSED = 100;
const READERS = 10;
const CROWD = 50;
const WRITERS = 5;
const SECRETS = '/api/v4/secrets';
const VALUE = 'correct horse battery staple';

/** A project, and a client that has rights there alone. */
export interface OwnProject {
  readonly id: string;
  readonly caller: Caller;
  /** Of a login of that client. */
  readonly login: { readonly clientId: string; readonly clientSecret: string };
  /** Of its list of 100. */
  readonly etag: string;
}

/** Projects with equal content, each with a client of its own: nothing that one asks for helps another. */
export async function fillProjects(admin: Caller): Promise<OwnProject[]> {
  return someAtATime(Array.from({ length: PROJECTS }), () => fillProject(admin), 2);
}

async function fillProject(admin: Caller): Promise<OwnProject> {
  const seed = new Seed(admin);
  const project = await seed.projectOf(admin);
  const place = { projectId: project.id, environment: 'dev' };
  for (const name of [...LISTS.map((count) => `of-${count}`), 'composed', 'new'])
    mustSucceed(await admin.post('/api/v2/folders', { ...place, name }));
  for (const count of LISTS) await seed.secrets(admin, project, 'dev', count, (secret) => secret, `/of-${count}`);
  const refer = (secret: Record<string, unknown>) => ({
    ...secret,
    secretKey: `REFERS_${secret.secretKey}`,
    secretValue: `\${dev.of-100.${secret.secretKey}}`,
  });
  await seed.secrets(admin, project, 'dev', COMPOSED, refer, '/composed');
  const source = { environment: 'dev', path: '/of-100' };
  mustSucceed(await admin.post('/api/v2/secret-imports', { ...place, path: '/composed', import: source }));
  const caller = await seed.caller(admin, { project: project.id, projectRoles: ['member'] });
  const method = `/api/v1/auth/universal-auth/identities/${caller.identityId}`;
  const { clientId } = mustSucceed(await admin.post(method, {})).body.identityUniversalAuth;
  const { clientSecret } = mustSucceed(await admin.post(`${method}/client-secrets`, {})).body;
  const { headers } = mustSucceed(await caller.get(listPath(project.id, 100)));
  return { id: project.id, caller, login: { clientId, clientSecret }, etag: String(headers.etag) };
}

/** The path of a list of a folder. */
export const listPath = (projectId: string, count: number): string =>
  `${SECRETS}?projectId=${projectId}&environment=dev&secretPath=/of-${count}`;

/** One of these, at random. */
export const anyOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;
/** A key of a folder with so many secrets, at random. */
export const anyKey = (count: number): string => `KEY_${String(Math.floor(Math.random() * count)).padStart(5, '0')}`;
const authorization = ({ caller }: OwnProject): { authorization: string } => ({
  authorization: `Bearer ${caller.token}`,
});
export const json = (body: unknown): Request => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** Each request is about another project, with the token of its client. */
const mix = (
  name: string,
  clients: number,
  requestOf: (project: OwnProject) => Request,
  load: Partial<Load> = {},
): Load => ({
  name,
  clients,
  isUnlike: true,
  request: ({ projects }) => ({
    setupRequest: () => {
      const project = anyOf(projects);
      const { headers, ...request } = requestOf(project);
      return { method: 'GET', ...request, headers: { ...authorization(project), ...headers } };
    },
  }),
  ...load,
});

const getOne = ({ id }: OwnProject): Request => ({
  path: `${SECRETS}/${anyKey(1_000)}?projectId=${id}&environment=dev&secretPath=/of-1000`,
});

/** Nearly the whole folder. Equal lists that are asked for at once would share a response. */
const listOf = (count: number) => (project: OwnProject) => ({
  path: `${listPath(project.id, count)}&limit=${count - Math.floor((Math.random() * count) / 10)}`,
});

const graphqlListOf =
  (count: number) =>
  ({ id }: OwnProject): Request => ({
    method: 'POST',
    path: '/graphql',
    ...json({
      query: `query ($id: ID!, $first: Int!) { secrets(projectId: $id, environment: "dev", secretPath: "/of-${count}", first: $first) {
        nodes { id secretKey secretValue version secretComment tags { id slug } } } }`,
      variables: { id, first: count - Math.floor((Math.random() * count) / 10) },
    }),
  });

const place = (id: string, folder: string) => ({ projectId: id, environment: 'dev', secretPath: `/${folder}` });
const newKey = (): string => `NEW_${randomUUID().replaceAll('-', '')}`;

const create = ({ id }: OwnProject): Request => ({
  method: 'POST',
  path: `${SECRETS}/${newKey()}`,
  ...json({ ...place(id, 'new'), secretValue: VALUE }),
});

const update = ({ id }: OwnProject): Request => ({
  method: 'PATCH',
  path: `${SECRETS}/${anyKey(1_000)}`,
  ...json({ ...place(id, 'of-1000'), secretValue: randomUUID() }),
});

const content = (): string => Array.from({ length: 1_000 }, (_, n) => `LINE_${n}=${randomUUID()}`).join('\n');

/** A half has the list already. */
const listAgain = (project: OwnProject): Request => ({
  path: listPath(project.id, 100),
  headers: Math.random() < 0.5 ? { 'if-none-match': project.etag } : {},
});

/** Requests as many clients of many projects send them: no two ask for the same at the same moment. */
export const MIXES: readonly Load[] = [
  mix('any secret', READERS, getOne, { peer: 'get' }),
  mix('any secret, 50 clients', CROWD, getOne, { peer: 'get' }),
  mix('any list of 100', READERS, listOf(100), { peer: 'list of 100' }),
  mix('any list of 1000', READERS, listOf(1_000), { peer: 'list of 1000' }),
  mix('any GraphQL list of 100', READERS, graphqlListOf(100)),
  mix('any GraphQL list of 1000', READERS, graphqlListOf(1_000)),
  mix('any list, half unchanged', CROWD, listAgain, { expects: [200, 304] }),
  mix('any composed list of 200', READERS, ({ id }) => ({
    path: `${SECRETS}?projectId=${id}&environment=dev&secretPath=/composed&expandSecretReferences=true&include_imports=true&recursive=true`,
  })),
  mix('any list of 100, and a writer', 2 * READERS, listOf(100), {
    beside: { load: mix('writer', 1, create), perSecond: 20 },
  }),
  mix(
    'any login',
    READERS,
    ({ login }) => ({
      method: 'POST',
      path: '/api/v1/auth/universal-auth/login',
      ...json(login),
    }),
    { peer: 'login' },
  ),
  mix('create any', WRITERS, create, { peer: 'create' }),
  mix('update any', WRITERS, update, { peer: 'update' }),
  mix('batch of 100 creates', 2, ({ id }) => {
    const secrets = Array.from({ length: 100 }, () => ({ secretKey: newKey(), secretValue: VALUE }));
    return { method: 'POST', path: `${SECRETS}/batch`, ...json({ ...place(id, 'new'), secrets }) };
  }),
  mix('import of 1000 lines', 1, ({ id }) => ({
    method: 'POST',
    path: `${SECRETS}/import`,
    ...json({ ...place(id, 'new'), format: 'dotenv', mode: 'overwrite', content: content() }),
  })),
];
