import { sql } from '@mikro-orm/core';
import {
  Organization,
  type OrganizationSchema,
} from '../../../src/features/identity/organizations/core/organization.entity.js';
import type { Context, Transaction } from '../../../src/kernel/context.js';
import { Database, query } from '../../../src/kernel/database/database.js';
import { flush, inTransaction } from '../../../src/kernel/database/in-transaction.js';
import { prepared, tablesOf } from '../../../src/kernel/database/tables.js';
import { POOL_LIMITS } from '../../../src/kernel/database/time-limits.js';
import { toAppError } from '../../../src/kernel/errors.js';
import { createLog } from '../../../src/kernel/log.js';
import { migratedDatabase } from '../../kit/databases.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

/** Few, so that places that are lost are missed at once. */
const PLACES = 3;
const tables = tablesOf<typeof OrganizationSchema>();
const findByName = prepared(({ name }: { name: string }) =>
  tables.selectFrom('organization').select(['id', 'parent_id', 'created_at']).where('name', '=', name),
);

let url: string;
let database: Database;
beforeAll(async () => {
  url = await migratedDatabase();
  const limits = { ...POOL_LIMITS, connections: PLACES };
  database = await Database.connect(url, { entities: [Organization] }, createLog('silent'), limits);
});
afterAll(() => database.close());

/** As much of a Context as a transaction needs. */
const ctx = () => ({ database, actor: null }) as unknown as Context;
/** Adds an organization by the unit of work. */
async function flushing(tx: Transaction, name: string): Promise<Organization> {
  const organization = tx.em.create(Organization, { name, slug: name, parentId: null });
  await flush(tx);
  return organization;
}
const terminate = (pid: number): Promise<unknown> =>
  withClient(url, (client) => client.query('select pg_terminate_backend($1)', [pid]));

describe('a transaction', () => {
  test('is the same for the unit of work, the entity manager and prepared statements, one statement each', async () => {
    const before = database.statements.request;
    const rows = await inTransaction(ctx(), async (tx) => {
      const { id } = await flushing(tx, 'one');
      await tx.em.nativeUpdate(Organization, { id }, { name: 'other', updatedAt: sql`now()` });
      // Nobody else sees it yet.
      expect(await findByName(database.query, { name: 'other' })).toEqual([]);
      return findByName(tx, { name: 'other' });
    });
    expect(rows).toEqual([{ id: expect.any(String), parent_id: null, created_at: expect.any(Date) }]);
    expect(await findByName(database.query, { name: 'other' })).toEqual(rows);
    // begin, insert, update, select outside and inside, commit, select.
    expect(database.statements.request - before).toBe(7);
  });

  test.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['the unit of work', (tx) => flushing(tx, 'late')],
    ['the entity manager', (tx) => tx.em.find(Organization, { name: 'late' })],
    ['a prepared statement', (tx) => findByName(tx, { name: 'late' })],
  ])('whose connection dies before a statement of %s gives its place back', async (_, statement) => {
    for (let round = 0; round <= PLACES; round += 1) {
      const lost = inTransaction(ctx(), async (tx) => {
        await flushing(tx, 'early');
        const [backend] = await query<{ pid: number }>(tx, 'select pg_backend_pid() as pid');
        await terminate(backend?.pid as number);
        await statement(tx);
      });
      const error: unknown = await lost.catch((reason: unknown) => reason);
      expect(toAppError(error).code).toBe('STORE_UNAVAILABLE');
    }
    await until('every place to be back', 20_000, () => database.connections.held === 0);
    expect(database.connections).toMatchObject({ held: 0, waiting: 0, leaks: 0 });
    expect(await findByName(database.query, { name: 'early' })).toEqual([]);
  });
});

describe('a prepared statement', () => {
  test('is not made from what its parameters are not there for yet', () => {
    const organizations = tables.selectFrom('organization').select('id');
    expect(() => prepared(({ name }: { name: string }) => organizations.where('name', '=', `${name}s`)).text).toThrow(
      'the parameter name has no value',
    );
    expect(
      () =>
        prepared((organization: { id: string; name: string; slug: string }) =>
          tables.insertInto('organization').values({ ...organization }),
        ).text,
    ).toThrow('name the parameters of a statement one by one');
  });
});
