import { ORGANIZATION_ACTIONS, PROJECT_ACTIONS } from '../../src/features/identity/permissions/actions.js';
import type { ErrorCode } from '../../src/kernel/errors.js';
import { enumName } from '../../src/kernel/names.js';
import { DETAIL_CODES, ERRORS } from '../kit/error-codes.js';
import type { Thing } from '../kit/operations/operation.js';
import { testInAll } from '../kit/scope.js';
import { type Strongroom, useStrongroom } from '../kit/strongroom.js';
import { CANARY } from '../kit/world.js';
import { BYTES, GROUND, hideAuditTrail, showAuditTrail } from './errors/faults.js';
import { IMPORTS, STOPPED_BY_IMPORTS } from './errors/imports.js';
import { KEYS } from './errors/keys.js';
import { LIMITS } from './errors/limits.js';
import { LOGINS, SECOND_LOGIN } from './errors/logins.js';
import { CLASHES, HARMLESS } from './errors/refusals.js';
import { type ErrorCase, mutate, newScene, type Provoke, type Scene, stopNodes } from './errors/scene.js';

const strongroom: Strongroom = useStrongroom({ ALLOW_PRIVATE_TARGETS: 'true', GRAPHQL_LIMITS: 'tokens=4000' });

/** Codes that no request can bring about yet, and why. */
const NOT_YET: Partial<Record<ErrorCode, string>> = {
  ACCOUNT_OF_CONNECTION:
    'takes accounts of a server: test/features/secret-rotations/hostos-local-account/owners.all.test.ts brings it about',
  ANSWER_TOO_LARGE: 'takes 64 MiB: test/features/gateway/response-size.all.test.ts brings it about',
  UPSTREAM_REJECTED: 'takes an external system: test/features/alert-deliveries/trials.test.ts brings it about',
  OVERLOADED: 'takes as much: the same test brings it about',
};

interface Group {
  readonly cases: Partial<Record<ErrorCode, ErrorCase>>;
  /** What the world has that its cases share; null for everything. */
  readonly wanted: readonly Thing[] | null;
}

/** In this order: what comes first may need things as they were made. */
const GROUPS: readonly Group[] = [
  { cases: { ...HARMLESS, ...CLASHES, ...LOGINS, ...IMPORTS, ...BYTES, ...SECOND_LOGIN, ...LIMITS }, wanted: null },
  { cases: STOPPED_BY_IMPORTS, wanted: ['environment', 'folder', 'import'] },
  { cases: KEYS, wanted: ['project'] },
  { cases: GROUND, wanted: ['project', 'secret', 'secretKey', 'tag', 'user'] },
];
/** These need a world as it was made, or leave it so that others fail in it: what they mention of it. */
const ALONE: Partial<Record<ErrorCode, readonly Thing[]>> = {
  CERTIFICATE_AUTHORITY_EXPIRED: ['certificateAuthority'],
  NOTIFICATION_CHANNELS_FULL: ['notificationChannel'],
  REFERENCES_TOO_LONG: ['project'],
  REVOCATION_GIVEN_UP: ['rotation'],
  ROTATION_CANCELLED: ['rotation'],
  ROTATION_CONTINUES: ['rotation'],
};
/** What takes long: limits of time, and nodes that have settings of their own. */
const SLOW: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['DEADLINE_EXCEEDED', 'REQUEST_TIMEOUT', 'ROTATION_CONTINUES'] as const),
  ...(['PERSISTED_DOCUMENTS_ONLY', 'RATE_LIMITED', 'SHUTTING_DOWN', 'TOO_MANY_STREAMS'] as const),
]);

/** What an error never shows: what the caller sent, SQL, places in the code. */
const NEVER_TOLD = [
  CANARY,
  /\b(select|insert|update) .* (from|into|set)\b/i,
  /\bat .*\.[jt]s:\d/,
  /<html/i,
  /node_modules/,
];

const DETAIL_WORDS = [...Object.keys(DETAIL_CODES), ...Object.keys(ERRORS)];
/** A denial names what is missing, as REST does and as GraphQL does. */
const VERBS = [PROJECT_ACTIONS, ORGANIZATION_ACTIONS]
  .flatMap((actions) => Object.values<readonly string[]>(actions).flat())
  .flatMap((verb) => [verb, enumName(verb)]);
const wordsOf = (code: ErrorCode): readonly string[] =>
  code === 'PERMISSION_DENIED' || code === 'PERMISSION_BOUNDARY' ? VERBS : DETAIL_WORDS;

interface Case {
  readonly code: ErrorCode;
  readonly api: 'REST' | 'GraphQL';
  readonly provoke: Provoke;
  readonly group: Group;
}

const CASES: readonly Case[] = GROUPS.flatMap((group) =>
  Object.entries(group.cases).flatMap(([name, { rest, graphql }]) => {
    const code = name as ErrorCode;
    return [
      ...(typeof rest === 'string' ? [] : [{ code, api: 'REST', provoke: rest, group } as const]),
      ...(typeof graphql === 'string' ? [] : [{ code, api: 'GraphQL', provoke: graphql, group } as const]),
    ];
  }),
);

const worlds = new Map<Group, Promise<Scene>>();
function sceneOf({ code, group }: Case): Promise<Scene> {
  if (code in ALONE) return newScene(strongroom, ALONE[code]);
  const scene = worlds.get(group) ?? newScene(strongroom, group.wanted);
  worlds.set(group, scene);
  return scene;
}

async function expectError(tried: Case): Promise<void> {
  const { code } = tried;
  const reply = await tried.provoke(await sceneOf(tried));

  expect(reply).toBeError(ERRORS[code].status, code);
  expect(reply.status).toBe(ERRORS[code].status);
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(reply.headers['cache-control']).toBe('no-store');
  if (reply.status === 401) expect(reply.headers['www-authenticate']).toBe('Bearer');
  if (reply.status >= 503) expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  if (reply.status === 405) expect(reply.headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  const { details = [] } = reply.body.errors?.[0].extensions ?? reply.body;
  for (const detail of details as { code: string }[]) expect(wordsOf(code)).toContain(detail.code);
  for (const secret of NEVER_TOLD) expect(reply.text).not.toMatch(secret);
}

afterAll(stopNodes);

describe('the table of errors', () => {
  test('has a way to every code, or a reason', () => {
    const codes = GROUPS.flatMap(({ cases }) => Object.keys(cases));
    expect([...codes, ...Object.keys(NOT_YET)].sort()).toEqual(Object.keys(ERRORS).sort());
  });

  const isSlow = ({ code }: Case): boolean => SLOW.has(code);
  test.each(CASES.filter((tried) => !isSlow(tried)))('$code over $api', expectError);
  testInAll.each(CASES.filter(isSlow))('$code over $api', expectError);
});

describe('without an audit trail', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await newScene(strongroom, ['project', 'secret', 'secretKey', 'identity']);
  });

  test('nothing is disclosed and nothing is changed, over either interface', async () => {
    const { admin, world } = scene;
    const place = { projectId: world.project, environment: 'dev' };
    const requests = [
      () => admin.get(`/api/v4/secrets?projectId=${world.project}&environment=dev`),
      () => admin.get(`/api/v4/secrets/id/${world.secret}`),
      () => admin.post('/api/v4/secrets/NEVER', { ...place, secretValue: CANARY }),
      () => admin.delete(`/api/v4/secrets/${world.secretKey}`, place),
      () => admin.delete(`/api/v1/projects/${world.project}`),
      () => admin.post(`/api/v1/auth/token-auth/identities/${world.identity}/tokens`, {}),
      () => admin.graphql('query ($id: ID!) { secret(id: $id) { secretValue } }', { id: world.secret }),
      () => mutate(admin, 'createTag', { projectId: world.project, slug: 'never', color: '#000000' }),
    ];
    const before = await contents();

    await hideAuditTrail(scene);
    const replies = [];
    try {
      for (const request of requests) replies.push(await request());
    } finally {
      await showAuditTrail(scene);
    }

    for (const reply of replies) {
      expect(reply).toBeError(503, 'AUDIT_UNAVAILABLE');
      expect(reply.headers['retry-after']).toBe('1');
      expect(reply.text).not.toMatch(new RegExp(`${CANARY}|srt_`));
      const { reqId } = reply.body.errors?.[0].extensions ?? reply.body;
      expect(JSON.parse(await strongroom.logLine(reqId))).toMatchObject({
        msg: 'request failed',
        failure: 'AUDIT_UNAVAILABLE',
      });
    }
    expect(await contents()).toEqual(before);
  });

  test('a denial is not told either', async () => {
    const { world, admin } = scene;
    const viewer = await strongroom.seed.caller(admin, { project: world.project, projectRoles: ['viewer'] });

    await hideAuditTrail(scene);
    const reply = await viewer.delete(`/api/v1/projects/${world.project}`).finally(() => showAuditTrail(scene));

    expect(reply).toBeError(503, 'AUDIT_UNAVAILABLE');
  });
});

/** Everything in the tables that requests change; uses of tokens are counted whatever the answer. */
const contents = () =>
  strongroom.sql(`select (select jsonb_agg(to_jsonb(s) order by id) from secret s) as secrets,
    (select jsonb_agg(to_jsonb(p) order by id) from project p) as projects,
    (select jsonb_agg(to_jsonb(t) order by id) from tag t) as tags, (select count(*) from access_token) as tokens`);

describe('GraphQL quotes nothing of what it refuses', () => {
  const long = `"${CANARY}"`;
  test.each([
    ['a literal of the wrong type', `{ projects(first: ${long}) { nodes { id } } }`, undefined],
    ['an unknown enum value', `{ projects(type: ${CANARY}) { nodes { id } } }`, undefined],
    ['an enum value as a text', `{ projects(type: ${long}) { nodes { id } } }`, undefined],
    ['an unknown argument with a value', `{ projects(nope: ${long}) { nodes { id } } }`, undefined],
    ['an unfinished text', `{ projects(nope: "${CANARY}) { nodes { id } } }`, undefined],
    ['a character that is none', `{ projects } # ${CANARY} \n ~`, undefined],
    [
      'an input literal with an unknown field',
      `mutation { createTag(input: { nope: ${long} }) { __typename } }`,
      undefined,
    ],
    ['two operations', `query A { __typename } query B { __typename } # ${CANARY}`, undefined],
    ['a variable of the wrong type', 'query ($v: Int) { projects(first: $v) { __typename } }', { v: CANARY }],
    ['an enum variable', 'query ($v: ProjectType) { projects(type: $v) { __typename } }', { v: CANARY }],
    ['an object where a text is due', 'query ($v: ID!) { project(id: $v) { id } }', { v: { [CANARY]: CANARY } }],
    [
      'an unknown key of an input, too long to be named',
      'mutation ($v: CreateTagInput!) { createTag(input: $v) { __typename } }',
      { v: { projectId: CANARY, slug: CANARY, color: CANARY, [`_${CANARY}`.padEnd(41, '_')]: CANARY } },
    ],
    [
      'a value that breaks a rule',
      'mutation ($v: CreateTagInput!) { createTag(input: $v) { __typename } }',
      { v: { projectId: 'x', slug: `${CANARY} slug`, color: `${CANARY}` } },
    ],
  ])('%s', async (_, document, variables) => {
    const reply = await strongroom.admin.graphql(document, variables);

    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(reply.body.errors.length).toBeGreaterThan(0);
    expect(reply.text).not.toContain(CANARY);
  });
});
