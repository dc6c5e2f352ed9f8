import { connect } from 'node:net';
import pg from 'pg';
import type { ErrorCode } from '../../../src/kernel/errors.js';
import type { Caller, Reply } from '../../kit/caller.js';
import { until } from '../../kit/until.js';
import { untilWaiting } from '../../kit/waiting.js';
import { during, type ErrorCase, nodeWith, type Provoke, type Scene, send } from './scene.js';

const ROUTER = 'a matter of HTTP, before any interface';
const ONE_PATH = 'POST /graphql has one path and is answered by its own parser';
const MIB = 1024 * 1024;
const LIST_TAGS: ErrorCase = { rest: send('GET /api/v1/projects/{projectId}/tags'), graphql: send('tags') };

/** Of the bytes of the request. Both interfaces stand on the same parsers. */
export const BYTES: Partial<Record<ErrorCode, ErrorCase>> = {
  MALFORMED_JSON: posting({ rawBody: '{"projectName": "cAnArY' }),
  MALFORMED_REQUEST: {
    rest: ({ admin }) => raw(admin, ['GET /api/v1/projects HTTP/1.1\r\ncAnArY\r\n\r\n']),
    graphql: ({ admin }) => admin.post('/graphql', { cAnArY: true }),
  },
  UNSUPPORTED_ENCODING: posting({ rawBody: 'cAnArY', headers: { 'content-encoding': 'gzip' } }),
  GRAPHQL_SYNTAX: { rest: ONE_PATH, graphql: ({ admin }) => admin.graphql('{ projects(type: "cAnArY" ') },
  GRAPHQL_INVALID: {
    rest: ONE_PATH,
    graphql: ({ admin }) => admin.graphql('{ project(id: "x", nope: "cAnArY") { id } }'),
  },
  QUERY_TOO_COMPLEX: {
    rest: ONE_PATH,
    graphql: ({ admin }) => admin.graphql(`{ ${'cAnArY: __typename '.repeat(31)} }`),
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    rest: ONE_PATH,
    graphql: ({ admin }) => admin.post('/graphql', { extensions: { persistedQuery: { sha256Hash: 'cAnArY' } } }),
  },
  PERSISTED_DOCUMENT_NOT_FOUND: {
    rest: ONE_PATH,
    graphql: ({ admin }) => admin.post('/graphql', { documentId: 'cAnArY' }),
  },
  PERSISTED_DOCUMENTS_ONLY: {
    rest: ONE_PATH,
    graphql: async ({ strongroom, admin }) => {
      const node = await nodeWith(strongroom, { PERSISTED_DOCUMENTS_ONLY: 'true' });
      return admin.at(node.url).graphql('{ cAnArY: __typename }');
    },
  },
  ROUTE_NOT_FOUND: { rest: ({ admin }) => admin.get('/api/v1/cAnArY'), graphql: ROUTER },
  METHOD_NOT_ALLOWED: {
    rest: ({ admin }) => admin.put('/api/v1/projects', {}),
    graphql: ({ admin }) => admin.put('/graphql', {}),
  },
  NOT_ACCEPTABLE: {
    rest: 'a reply of REST is JSON whatever is accepted',
    graphql: ({ admin }) => admin.post('/graphql', { query: '{ __typename }' }, { accept: 'text/cAnArY' }),
  },
  BODY_TOO_LARGE: posting({ rawBody: JSON.stringify({ query: 'cAnArY'.repeat(MIB / 5) }) }),
  UNSUPPORTED_MEDIA_TYPE: posting({ rawBody: 'cAnArY', headers: { 'content-type': 'text/plain' } }),
  VALIDATION_FAILED: {
    rest: ({ admin }) => admin.post('/api/v2/workspace', { projectName: 'Shop', slug: 'cAnArY slug', projctName: 1 }),
    graphql: ({ admin }) =>
      admin.graphql('query ($first: Int) { projects(first: $first) { __typename } }', { first: 'cAnArY' }),
  },
  REQUEST_TIMEOUT: {
    // Waits until the service has waited long enough.
    rest: ({ admin }) => raw(admin, ['GET /api/v1/projects HTTP/1.1\r\nX-A: cAnArY']),
    graphql: ROUTER,
  },
  HEADERS_TOO_LARGE: {
    rest: ({ admin }) =>
      raw(admin, [`GET /api/v1/projects HTTP/1.1\r\nHost: x\r\nX-A: ${'cAnArY'.repeat(11_000)}\r\n\r\n`]),
    graphql: ({ admin }) =>
      raw(admin, [`POST /graphql HTTP/1.1\r\nHost: x\r\nX-A: ${'cAnArY'.repeat(11_000)}\r\n\r\n`]),
  },
};

/** Of what the service stands on. */
export const GROUND: Partial<Record<ErrorCode, ErrorCase>> = {
  CONCURRENT_CHANGE: {
    rest: meanwhile(send('PATCH /api/v1/projects/{projectId}')),
    graphql: meanwhile(send('updateProject')),
  },
  INTERNAL: around(
    ({ strongroom }) => strongroom.sql('alter table tag rename column color to colour'),
    ({ strongroom }) => strongroom.sql('alter table tag rename column colour to color'),
    LIST_TAGS,
  ),
  AUDIT_UNAVAILABLE: around(hideAuditTrail, showAuditTrail, {
    rest: send('GET /api/v4/secrets/id/{secretId}'),
    graphql: send('createSecret'),
  }),
  STORE_UNAVAILABLE: around(closeDatabase, openDatabase, LIST_TAGS),
  SHUTTING_DOWN: {
    rest: askWhileLeaving,
    graphql: 'what is asked of GraphQL while the service leaves is still answered',
  },
  SEALED_VALUE_INVALID: around(flipValue, flipValue, {
    rest: send('GET /api/v4/secrets/id/{secretId}'),
    graphql: send('secret'),
  }),
  DEADLINE_EXCEEDED: {
    rest: whileLocked(send('GET /api/v1/projects/{projectId}/tags')),
    graphql: whileLocked(send('tags')),
  },
};

function posting(request: { rawBody: string; headers?: Record<string, string> }): ErrorCase {
  return {
    rest: ({ admin }) => admin.request({ method: 'POST', path: '/api/v2/workspace', ...request }),
    graphql: ({ admin }) => admin.request({ method: 'POST', path: '/graphql', ...request }),
  };
}

function around(
  begin: (scene: Scene) => Promise<unknown>,
  end: (scene: Scene) => Promise<unknown>,
  { rest, graphql }: ErrorCase,
): ErrorCase {
  return { rest: during(begin, end, rest as Provoke), graphql: during(begin, end, graphql as Provoke) };
}

export function hideAuditTrail({ strongroom }: Pick<Scene, 'strongroom'>): Promise<unknown> {
  return strongroom.sql('alter table audit_record rename to audit_record_away');
}

export function showAuditTrail({ strongroom }: Pick<Scene, 'strongroom'>): Promise<unknown> {
  return strongroom.sql('alter table audit_record_away rename to audit_record');
}

/** Spoils a sealed value, and makes it good again the second time. */
function flipValue({ strongroom, world }: Scene): Promise<unknown> {
  const flip =
    'update secret set value_sealed = set_byte(value_sealed, 40, get_byte(value_sealed, 40) # 1) where id = $1';
  return strongroom.sql(flip, [world.secret]);
}

/** Nobody may connect, and whoever is connected is thrown out. */
async function closeDatabase({ strongroom }: Scene): Promise<void> {
  const name = new URL(strongroom.databaseUrl).pathname.slice(1);
  await onServer(`alter database ${name} allow_connections false`);
  await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
}

async function openDatabase({ strongroom, admin }: Scene): Promise<void> {
  await onServer(`alter database ${new URL(strongroom.databaseUrl).pathname.slice(1)} allow_connections true`);
  await until(
    'the service to have its database again',
    20_000,
    async () => (await admin.get('/readyz')).status === 200,
  );
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_POSTGRES_URL });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Runs while another connection holds what the request needs, until `release` is called or the request has ended. */
async function holding(
  { strongroom }: Scene,
  [text, params]: readonly [string, unknown[]],
  work: (release: () => Promise<unknown>) => Promise<Reply>,
): Promise<Reply> {
  const client = new pg.Client({ connectionString: strongroom.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(text, params);
    return await work(() => client.query('commit'));
  } finally {
    await client.end();
  }
}

function whileLocked(provoke: Provoke): Provoke {
  return (scene) => holding(scene, ['lock table tag in access exclusive mode', []], () => provoke(scene));
}

/** Somebody else changes the project, and commits when the request is already waiting for the row. */
function meanwhile(provoke: Provoke): Provoke {
  return (scene) => {
    const change = `update project set secret_detection_ignore_values_version = secret_detection_ignore_values_version + 1 where id = $1`;
    return holding(scene, [change, [scene.world.project]], async (release) => {
      const reply = provoke(scene);
      await untilWaiting(scene.strongroom, 1, reply);
      await release();
      return reply;
    });
  };
}

/** The second half of a request reaches a node that was asked to stop after the first half. */
async function askWhileLeaving({ strongroom, admin }: Scene): Promise<Reply> {
  const node = await strongroom.startSecondNode({ env: { LOG_LEVEL: 'info' } });
  const leaving = async (): Promise<void> => {
    node.service.signal('SIGTERM');
    await until('the node to drain', 20_000, () => node.service.output.includes('draining'));
  };
  const reply = await raw(admin.at(node.url), ['GET /readyz HTTP/1.1\r\n', leaving, 'Host: x\r\n\r\n']);
  await node.stop();
  return reply;
}

/** Sends bytes as they are, and steps between them, and reads the reply to the end of the connection. */
async function raw({ url }: Caller, parts: readonly (string | (() => Promise<void>))[]): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', resolve);
    socket.on('error', reject);
  });
  for (const part of parts) {
    if (typeof part === 'string') await new Promise<void>((sent) => socket.write(part, () => sent()));
    else await part();
  }
  await ended;
  const [head = '', text = ''] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.replace(/^[^:]*: /, '')]);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: JSON.parse(text) as unknown,
    text,
  };
}
