import { type Caller, mustSucceed } from '../kit/caller.js';
import { graphqlOperations } from '../kit/operations/graphql.js';
import type { Operation, Thing } from '../kit/operations/operation.js';
import { restOperations } from '../kit/operations/rest-requests.js';
import { type Reply, type Strongroom, useStrongroom } from '../kit/strongroom.js';
import { tableContents } from '../kit/tables.js';
import { until } from '../kit/until.js';
import { CANARY, seedSub, seedWorld, seedWorldInSub, type World } from '../kit/world.js';

const strongroom: Strongroom = useStrongroom({
  RATE_LIMIT: 'off',
  GRAPHQL_LIMITS: 'cost=100000',
  ALLOW_PRIVATE_TARGETS: 'true',
});
const operations = [...restOperations(), ...graphqlOperations()];

/** Whoever holds one of these acts by it, with or without a token of its own. */
const CREDENTIALS: readonly Thing[] = ['heldToken', 'clientId', 'heldClientSecret'];
/** Tables that every request writes, whoever sends it; that jobs write by the clock; and of a stranger about itself. */
const WRITTEN_BESIDE = [
  'audit_record',
  'audit_disclosure',
  'audit_seal',
  'audit_checkpoint',
  'access_token',
  'rate_limit_count',
  'data_key',
];
/** A job that runs by itself, some time after what it is about. */
const RUNS_LATER = 'project-notices:tell';
/** What is sealed in a world. */
const SEALED = ['value', 'comment', 'metadata'].map((name) => `${CANARY} ${name}`);
const DENIED = /^(PERMISSION_DENIED|PERMISSION_BOUNDARY|[A-Z_]+_NOT_FOUND)$/;

interface Stranger {
  readonly make: () => Promise<Caller>;
  /** The world is in a sub-organization, and not in a root organization. */
  readonly isOfSub?: true;
  /** The code of every refusal; absent: as decided for the thing, 403 or 404. */
  readonly code?: string;
  /** What it may know of. */
  readonly knows?: readonly Thing[];
}

let world: World;
let admin: Caller;
/** The admin of the root organization: that of the world, or the one above. */
let root: Caller;
let untouched: Record<string, string[]>;

const inProject = { project: '', projectRoles: ['no-access'] };

const STRANGERS: Readonly<Record<string, Stranger>> = {
  nobody: { make: async () => admin.anonymous, code: 'TOKEN_MISSING' },
  'a revoked token': {
    make: async () => {
      const caller = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
      mustSucceed(await admin.post('/api/v1/auth/token/revoke', { accessToken: caller.token }));
      return caller;
    },
    code: 'TOKEN_REVOKED',
  },
  'a member without any right': {
    make: () => strongroom.seed.caller(admin, { ...inProject, project: world.project }),
    knows: ['organization', 'project', 'projectSlug', 'environment'],
  },
  'an admin of another project': {
    make: async () => {
      const { id } = await strongroom.seed.projectOf(admin);
      return strongroom.seed.caller(admin, { project: id, projectRoles: ['admin'] });
    },
    knows: ['organization'],
  },
  'an admin of another organization': { make: async () => (await strongroom.seed.organization()).admin },
  'an admin of a sub-organization below': { make: () => adminOfSub(), knows: ['organization'] },
  'an admin of a sub-organization beside': { make: () => adminOfSub(), isOfSub: true },
};

/** Somebody whose token is scoped to a sub-organization of its own. */
const adminOfSub = async (): Promise<Caller> => (await seedSub(strongroom.seed, root)).admin;

/** The rows of the organizations of the world. */
async function rowsOfWorld(): Promise<Record<string, string[]>> {
  const contents = Object.entries(await tableContents(strongroom.databaseUrl));
  return Object.fromEntries(
    contents
      .filter(([table]) => !WRITTEN_BESIDE.includes(table))
      .map(([table, rows]) => [
        table,
        rows.filter(
          (row) =>
            (row.includes(world.organization) || row.includes(world.subOrganization)) && !row.includes(RUNS_LATER),
        ),
      ]),
  );
}

/** Every code of a reply, of either interface; a plain success has none. */
const codesOf = ({ body }: Reply): readonly string[] =>
  body?.errors === undefined
    ? [body?.code].filter((code) => code !== undefined)
    : body.errors.map((error: { extensions: { code: string } }) => error.extensions.code);

/** What of the world stands in a reply, other than what the stranger sent or may know of. */
function disclosed({ text }: Reply, operation: Operation, { knows = [] }: Stranger): string[] {
  const hidden = (Object.keys(world) as Thing[]).filter(
    (thing) => !knows.includes(thing) && !operation.things.includes(thing),
  );
  return [...hidden.filter((thing) => text.includes(world[thing])), ...SEALED.filter((value) => text.includes(value))];
}

/** Lists of a reply that count other rows than they have, where they are whole. */
const miscounted = (body: unknown): unknown[] => {
  if (typeof body !== 'object' || body === null) return [];
  const { nodes, totalCount, pageInfo } = body as Partial<Record<string, { length?: number; hasNextPage?: boolean }>>;
  const isWhole = pageInfo?.hasNextPage === false && typeof totalCount === 'number';
  return [...(isWhole && nodes?.length !== totalCount ? [body] : []), ...Object.values(body).flatMap(miscounted)];
};

const asked = operations.filter(({ things }) => !things.some((thing) => CREDENTIALS.includes(thing)));

async function seed({ isOfSub }: Stranger): Promise<{ world: World; admin: Caller; root: Caller }> {
  if (isOfSub) return seedWorldInSub(strongroom.seed);
  const made = await seedWorld(strongroom.seed);
  return { ...made, root: made.admin };
}

describe.each(Object.entries(STRANGERS))('%s', (_, stranger) => {
  let caller: Caller;

  beforeAll(async () => {
    ({ world, admin, root } = await seed(stranger));
    caller = await stranger.make();
    await until('the notices to be told', 60_000, async () => {
      const untold = await strongroom.sql('select from notice where told_at is null limit 1');
      return untold.length === 0;
    });
    untouched = await rowsOfWorld();
  });

  test.each(asked.map((operation) => [operation.name, operation] as const))('%s', async (_name, operation) => {
    const reply = await operation.send(caller, world);

    const codes = codesOf(reply);
    expect(disclosed(reply, operation, stranger)).toEqual([]);
    expect(miscounted(reply.body)).toEqual([]);
    if (stranger.code !== undefined) {
      expect(codes).toEqual([stranger.code]);
      return;
    }
    for (const code of codes) expect(code).toMatch(DENIED);
    const unknown = operation.things.filter(
      (thing) => !stranger.knows?.includes(thing) && !operation.saysNoOf?.includes(thing),
    );
    if (unknown.length > 0 && operation.hidesAs !== 'null') expect(codes).not.toEqual([]);
  });

  test('has changed nothing', async () => {
    expect(await rowsOfWorld()).toEqual(untouched);
  });
});

test(`is a table of ${asked.length} operations and ${Object.keys(STRANGERS).length} strangers`, () => {
  const names = operations.filter((operation) => !asked.includes(operation)).map(({ name }) => name);
  // Logins, renewal and revocation take a credential in their body.
  expect(names.length).toBeLessThan(12);
});
