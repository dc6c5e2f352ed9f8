import { type Caller, mustSucceed } from '../kit/caller.js';
import { graphqlOperations } from '../kit/operations/graphql.js';
import type { Operation, Thing } from '../kit/operations/operation.js';
import { restOperations } from '../kit/operations/rest-requests.js';
import { sample } from '../kit/scope.js';
import { someAtATime } from '../kit/some-at-a-time.js';
import { LENIENT, type Reply, type SharedStrongroom, useSharedStrongroom } from '../kit/strongroom.js';
import { rowsWith } from '../kit/tables.js';
import { until } from '../kit/until.js';
import { CANARY, seedSub, seedWorld, seedWorldInSub, type World } from '../kit/world.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');
const operations = [...restOperations(), ...graphqlOperations()];

/** Whoever holds one of these acts by it, with or without a token of its own. */
const CREDENTIALS: readonly Thing[] = [
  'heldToken',
  'clientId',
  'heldClientSecret',
  'platformToken',
  'platformIdentity',
  'serviceAccountToken',
];
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
let lastSeen: Record<string, string[]>;

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
  const contents = await rowsWith(strongroom.databaseUrl, [world.organization, world.subOrganization]);
  return Object.fromEntries(
    Object.entries(contents)
      .filter(([table]) => !WRITTEN_BESIDE.includes(table))
      .map(([table, rows]) => [table, rows.filter((row) => !row.includes(RUNS_LATER))]),
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

async function seed(isOfSub: boolean): Promise<{ world: World; admin: Caller; root: Caller }> {
  if (isOfSub) return seedWorldInSub(strongroom.seed);
  const made = await seedWorld(strongroom.seed);
  return { ...made, root: made.admin };
}

/** In `npm test` each sends a part of its own, and all of them together everything. */
const askedBy = (who: string): readonly Operation[] => {
  const names = Object.keys(STRANGERS);
  return sample(asked, names.length, names.indexOf(who));
};

describe.each([false, true])('where the world is in a sub-organization: %s', (isOfSub) => {
  const strangers = Object.entries(STRANGERS).filter(([, stranger]) => (stranger.isOfSub ?? false) === isOfSub);
  const callers = new Map<Stranger, Caller>();

  beforeAll(async () => {
    ({ world, admin, root } = await seed(isOfSub));
    for (const [, stranger] of strangers) callers.set(stranger, await stranger.make());
    await until('the notices to be told', 60_000, async () => {
      const untold = await strongroom.sql(
        'select from notice where told_at is null and organization_id = any($1) limit 1',
        [[world.organization, world.subOrganization]],
      );
      return untold.length === 0;
    });
    lastSeen = await rowsOfWorld();
  });

  describe.each(strangers)('%s', (who, stranger) => {
    let replies: ReadonlyMap<Operation, Reply>;

    beforeAll(async () => {
      const caller = callers.get(stranger) as Caller;
      const send = async (operation: Operation) => [operation, await operation.send(caller, world)] as const;
      const { changes = [], reads = [] } = Object.groupBy(askedBy(who), (each) => (each.changes ? 'changes' : 'reads'));
      // Lists of what the stranger makes itself would count it before they have it.
      replies = new Map([...(await someAtATime(changes, send)), ...(await someAtATime(reads, send))]);
    });

    test.each(askedBy(who).map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
      const reply = replies.get(operation) as Reply;
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
      const before = lastSeen;
      lastSeen = await rowsOfWorld();
      expect(lastSeen).toEqual(before);
    });
  });
});

test(`is a table of ${asked.length} operations and ${Object.keys(STRANGERS).length} strangers`, () => {
  const names = operations.filter((operation) => !asked.includes(operation)).map(({ name }) => name);
  // Logins, renewal and revocation take a credential in their body.
  expect(names.length).toBeLessThan(12);
});
