import { randomUUID } from 'node:crypto';
import type { Request } from 'autocannon';
import type { Caller } from '../kit/caller.ts';
import type { AccessGround } from './access.ts';
import type { Ground } from './ground.ts';
import { json, MIXES } from './mixes.ts';
import type { PeerLoad } from './peer.ts';

/** One kind of request, sent by so many clients at once. */
export interface Load {
  readonly name: string;
  readonly clients: number;
  readonly request: (ground: Ground) => Request;
  /** Sent to the node that keeps no replies. */
  readonly keepsNothing?: true;
  /** Sent to the node that limits rates. */
  readonly isLimited?: true;
  /** Needs the large project. */
  readonly isLarge?: true;
  /** Needs the organization with very many members and rules. */
  readonly isCrowded?: true;
  /** Who asks, in place of the admin of the installation. */
  readonly caller?: (ground: Ground) => Caller;
  /** The statuses of answers, in place of any 2xx. */
  readonly expects?: readonly number[];
  /** No two requests ask for the same at the same moment. The others of this list share what can be shared. */
  readonly isUnlike?: true;
  /** Sent meanwhile, so often, and not measured. */
  readonly beside?: { readonly load: Load; readonly perSecond: number };
  /** What does the same at a server to compare with. */
  readonly peer?: PeerLoad;
}

const READERS = 10;
const WRITERS = 5;
const SECRETS = '/api/v4/secrets';

const get = (name: string, path: (ground: Ground) => string): Load => ({
  name,
  clients: READERS,
  request: (ground) => ({ method: 'GET', path: path(ground) }),
});

const listOf = (count: number): Load =>
  get(
    `list of ${count}`,
    ({ projectId }) => `${SECRETS}?projectId=${projectId}&environment=dev&secretPath=/of-${count}`,
  );

/** The same writes, each with an idempotency key of its own. */
const keyed = (load: Load): Load => ({
  ...load,
  name: `${load.name}, with key`,
  request: (ground) => {
    const { setupRequest = (request) => request, ...request } = load.request(ground);
    const withKey = (made: Request): Request => ({
      ...made,
      headers: { ...made.headers, 'idempotency-key': randomUUID() },
    });
    return { ...request, setupRequest: (next) => withKey(setupRequest(next)) };
  },
});

/** The same load with the reply cache switched off. */
const unkept = (load: Load): Load => ({ ...load, name: `${load.name}, not kept`, keepsNothing: true });

/** Nearly the same list each time: equal ones that are asked for at once share a response, whether it is kept or not. */
const unlike = (load: Load, count: number): Load => ({
  ...load,
  name: `${load.name}, none equal`,
  request: (ground) => {
    const request = load.request(ground);
    let sent = 0;
    return {
      ...request,
      setupRequest: (next) => {
        sent += 1;
        return { ...next, path: `${request.path}&limit=${count - (sent % (2 * READERS))}` };
      },
    };
  },
});

/** The same load where rates are limited. */
const limited = (load: Load): Load => ({ ...load, name: `${load.name}, limited`, isLimited: true });

const graphql = (name: string, query: string): Load => ({
  name,
  clients: READERS,
  request: ({ projectId }) => ({ method: 'POST', path: '/graphql', ...json({ query, variables: { id: projectId } }) }),
});

/** The same question in the other interface. */
const secretsOf = (count: number): Load =>
  graphql(
    `GraphQL list of ${count}`,
    `query ($id: ID!) { secrets(projectId: $id, environment: "dev", secretPath: "/of-${count}") {
      nodes { id secretKey secretValue version secretComment tags { id slug } } } }`,
  );

/** One client alone, which waits for each response. */
const alone = (load: Load): Load => ({ ...load, name: `${load.name}, one client`, clients: 1 });

/** Each request about another secret: the key is made of its number. */
const writing = (name: string, method: string, folder: string, keyOf: (n: number) => string): Load => ({
  name,
  clients: WRITERS,
  request: ({ projectId }) => {
    let sent = 0;
    const place = { projectId, environment: 'dev', secretPath: folder };
    return {
      method,
      path: SECRETS,
      ...json({ ...place, secretValue: 'correct horse battery staple' }),
      setupRequest: (request) => {
        sent += 1;
        return { ...request, path: `${SECRETS}/${keyOf(sent)}` };
      },
    };
  },
});

const getProject = get('get project', ({ projectId }) => `/api/v1/projects/${projectId}`);

const getSecret = get(
  'get secret',
  ({ projectId }) => `${SECRETS}/KEY_00001?projectId=${projectId}&environment=dev&secretPath=/of-100`,
);

const listProjects = get('list projects (20)', () => '/api/v1/projects');

const run = String(process.pid);
let created = 0;

const createSecret = writing('create secret', 'POST', '/new', () => {
  created += 1;
  return `NEW_${run}_${created}`;
});

const EVERYTHING = 'recursive=true&expandSecretReferences=true&include_imports=true';

const large = (name: string, clients: number, query: string): Load => ({
  ...get(name, ({ largeProjectId }) => `${SECRETS}?projectId=${largeProjectId}&${query}`),
  clients,
  isLarge: true,
});

const everything = large('everything of 10000', 20, `environment=dev&${EVERYTHING}`);
const tangle = (name: string): Load =>
  unkept(large(name, 1, `environment=staging&secretPath=/${name}&expandSecretReferences=true`));

/** One at a time: whether a long list holds up others. */
const kibibytes: Load = {
  ...get(
    'list of 1000 of 1 KiB',
    ({ projectId }) => `${SECRETS}?projectId=${projectId}&environment=dev&secretPath=/of-kibibytes`,
  ),
  clients: 1,
};

const updateIn = (count: number): Load =>
  writing(`update secret (of ${count})`, 'PATCH', `/of-${count}`, (n) => `KEY_${String(n % count).padStart(5, '0')}`);

/** Asked by one client alone, in the organization with very many members and rules. */
const crowded = (
  name: string,
  who: 'admin' | 'member' | 'viewer',
  request: (access: AccessGround) => Request,
): Load => ({
  name,
  clients: 1,
  isCrowded: true,
  caller: ({ access }) => crowd(access)[who],
  request: ({ access }) => request(crowd(access)),
});
const crowd = (access: AccessGround | null): AccessGround => {
  if (access === null) throw new Error('nothing was filled');
  return access;
};

const READERS_OF_SECRET = `query ($id: ID!) { secretByKey(projectId: $id, environment: "dev", secretPath: "/", secretKey: "KEY_00001") {
  readers(first: 50) { nodes { name } } } }`;

/** What is another organization's, and what is nobody's: neither takes longer to be denied. */
const denied = (name: string, id: (ground: Ground) => string): Load => ({
  name,
  clients: 1,
  expects: [404],
  isCrowded: true,
  caller: ({ admin }) => admin,
  request: (ground) => ({ method: 'GET', path: `/api/v1/projects/${id(ground)}` }),
});

const tokensOf = (identityId: string): string => `/api/v1/auth/token-auth/identities/${identityId}/tokens`;

/** Everything that is measured. Others are told as a ratio to the first, which does next to nothing. */
export const LOADS: readonly Load[] = [
  get('status', () => '/api/status'),
  ...MIXES,
  {
    name: 'create token',
    clients: READERS,
    request: ({ identityIds: [identityId = ''] }) => ({ method: 'POST', path: tokensOf(identityId), ...json({}) }),
    peer: 'create token',
  },
  {
    // Those for one identity share transactions.
    name: 'create token, none equal',
    clients: READERS,
    request: ({ identityIds }) => {
      let sent = 0;
      return {
        method: 'POST',
        ...json({}),
        setupRequest: (request) => {
          sent += 1;
          return { ...request, path: tokensOf(String(identityIds[sent % identityIds.length])) };
        },
      };
    },
  },
  {
    name: 'login',
    clients: READERS,
    request: ({ login }) => ({ method: 'POST', path: '/api/v1/auth/universal-auth/login', ...json(login) }),
  },
  {
    name: 'login by OpenID Connect',
    clients: READERS,
    request: ({ identityIds, platformToken: jwt }) => {
      let sent = 0;
      return {
        method: 'POST',
        path: '/api/v1/auth/oidc-auth/login',
        ...json({}),
        setupRequest: (request) => {
          sent += 1;
          const identityId = identityIds[sent % identityIds.length];
          return { ...request, ...json({ identityId, jwt }) };
        },
      };
    },
  },
  limited(getProject),
  ...[getProject, listProjects, getSecret, listOf(10), listOf(100), listOf(1_000)].flatMap((load) => [
    load,
    unkept(load),
  ]),
  unkept(unlike(listOf(1_000), 1_000)),
  alone(getSecret),
  createSecret,
  alone(createSecret),
  keyed(createSecret),
  updateIn(10),
  updateIn(1_000),
  graphql(
    'GraphQL get project',
    'query ($id: ID!) { project(id: $id) { id name slug environments { id slug name } } }',
  ),
  graphql(
    'GraphQL get secret',
    `query ($id: ID!) { secretByKey(projectId: $id, environment: "dev", secretPath: "/of-100", secretKey: "KEY_00001") {
      id secretKey secretValue version secretComment tags { id slug } } }`,
  ),
  ...[secretsOf(10), secretsOf(100), secretsOf(1_000)].flatMap((load) => [load, unkept(load)]),
  crowded('check of 1000 rules', 'member', () => ({
    method: 'POST',
    path: '/graphql',
    ...json({ query: '{ viewer { name } }' }),
  })),
  crowded('check of a viewer', 'viewer', () => ({
    method: 'POST',
    path: '/graphql',
    ...json({ query: '{ viewer { name } }' }),
  })),
  crowded('project by 1000 rules', 'member', ({ projectId }) => ({
    method: 'GET',
    path: `/api/v1/projects/${projectId}`,
  })),
  crowded('project by a viewer', 'viewer', ({ projectId }) => ({
    method: 'GET',
    path: `/api/v1/projects/${projectId}`,
  })),
  crowded('readers of 10000', 'admin', ({ projectId }) => ({
    method: 'POST',
    path: '/graphql',
    ...json({ query: READERS_OF_SECRET, variables: { id: projectId } }),
  })),
  denied('project of others', ({ access }) => crowd(access).projectId),
  denied('no project', () => randomUUID()),
  unkept(kibibytes),
  ...['web', 'chain', 'bomb'].map(tangle),
  everything,
  // Last: what its clients have asked for when the time is over is still being made.
  { ...unkept(everything), clients: 1 },
];
