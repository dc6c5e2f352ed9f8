import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { recordInstallation } from '../../../src/kernel/crypto/installation.js';
import { Keyring } from '../../../src/kernel/crypto/keyring.js';
import { RootKey } from '../../../src/kernel/crypto/root-key.js';
import { InstallationKeys, RootKeys } from '../../../src/kernel/crypto/root-keys.js';
import { keyIdOf } from '../../../src/kernel/crypto/seal.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../src/kernel/crypto/sealer.js';
import { StableKeys } from '../../../src/kernel/crypto/stable-keys.js';
import { Database, type Query } from '../../../src/kernel/database/database.js';
import { migratedDatabase } from '../../kit/databases.js';
import { NOTHING_DISABLED } from '../../kit/nothing-disabled.js';

const SEAL_LIMIT = 2 ** 30;
const MAX_SCOPES = 1_000;
/** A busy machine may keep a statement longer than callers wait in production; then they take seals of their own, and counts differ. */
const PATIENT_MS = 20_000;
const invalid = expect.objectContaining({ code: 'SEALED_VALUE_INVALID' });
const place = (rowId = randomUUID()) => ({ table: 'secret', column: 'value_sealed', rowId, rowVersion: 1 });

interface Scope {
  readonly organizationId: string;
  readonly projectId: string | null;
}

interface KeyRow {
  readonly id: string;
  readonly seals: number;
  readonly isRetired: boolean;
  readonly parentKeyId: string | null;
}

describe('the keyring', () => {
  const rootKeys = new RootKeys(new RootKey(randomBytes(32)));
  let keys: InstallationKeys;
  let databaseUrl: string;
  let database: Database;
  let statements = 0;

  /** Outside of any transaction; counted. */
  const query: Query = (text, params) => {
    statements += 1;
    return database.query(text, params);
  };
  const nodeOf = (scopes: number) =>
    new Keyring(keys, query, NOTHING_DISABLED, { maxScopes: scopes, patienceMs: PATIENT_MS });
  const node = () => nodeOf(MAX_SCOPES);

  beforeAll(async () => {
    databaseUrl = await migratedDatabase();
    database = await Database.connect(databaseUrl, {});
    keys = await recordInstallation(database.query, rootKeys);
  });
  afterAll(() => database?.close());

  const addOrganization = async (keyring: Keyring, run: Query = query) => {
    const organizationId = randomUUID();
    await run('insert into organization (id, name, slug) values ($1, $2, $3)', [organizationId, 'o', organizationId]);
    return { organizationId, keyId: await keyring.createOrganizationKey(run, organizationId) };
  };

  const addProject = async (keyring: Keyring, organizationId: string, parentKeyId: string, run: Query = query) => {
    const projectId = randomUUID();
    await run(
      `insert into project (id, organization_id, name, slug, type, kms_secret_manager_key_id)
       values ($1, $2, 'p', $3, 'secret-manager', $4)`,
      [projectId, organizationId, projectId, parentKeyId],
    );
    await keyring.createProjectKey(run, { organizationId, projectId, parentKeyId });
    return { organizationId, projectId };
  };

  const seed = async (keyring = node()) => {
    const { organizationId, keyId } = await addOrganization(keyring);
    return {
      keyring,
      keyId,
      organization: { organizationId, projectId: null },
      project: await addProject(keyring, organizationId, keyId),
    };
  };

  const sealerFor = async (keyring: Keyring, scope: Scope, seals: number): Promise<Sealer> => {
    const sealer = await keyring.sealer(query, scope);
    await sealer.reserve(seals);
    return sealer;
  };

  const keysOf = ({ organizationId, projectId }: Scope): Promise<KeyRow[]> =>
    database.query<KeyRow>(
      `select id, seals_reserved::float8 as seals, retired_at is not null as "isRetired", parent_key_id as "parentKeyId"
       from data_key where organization_id = $1 and project_id is not distinct from $2::uuid order by created_at, id`,
      [organizationId, projectId],
    );

  const counted = async (work: () => Promise<unknown>): Promise<number> => {
    const before = statements;
    await work();
    return statements - before;
  };

  /** Work in a transaction on a connection of its own, rolled back or committed at the end. */
  const inTransaction = async <T>(end: 'commit' | 'rollback', work: (run: Query) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const run: Query = async (text, params = []) => (await client.query(text, [...params])).rows;
    try {
      await run('begin');
      const result = await work(run);
      await run(end);
      return result;
    } finally {
      await client.end();
    }
  };

  test('opens on every node what one node sealed, for organizations and projects', async () => {
    const { keyring, organization, project } = await seed();
    for (const scope of [organization, project]) {
      const at = place();
      const record = (await sealerFor(keyring, scope, 1)).seal(at, new SealedText('value'));
      expect((await node().sealer(query, scope)).open(at, record).reveal()).toBe('value');
    }
  });

  test('asks the database once for a scope, and then once for a thousand seals', async () => {
    const { project } = await seed();
    const keyring = node();
    expect(await counted(() => keyring.sealer(query, project))).toBe(1);
    expect(await counted(() => keyring.sealer(query, project))).toBe(0);
    expect(await counted(() => sealerFor(keyring, project, 1))).toBe(1);
    const more = async () => {
      for (let count = 0; count < 999; count += 1)
        (await sealerFor(keyring, project, 1)).seal(place(), new SealedText('x'));
    };
    expect(await counted(more)).toBe(0);
    expect(await counted(() => sealerFor(keyring, project, 1))).toBe(1);
    expect(await counted(() => sealerFor(keyring, project, 2_500))).toBe(1);
  });

  test('reserves one block for many callers at once', async () => {
    const { project } = await seed();
    const keyring = node();
    await Promise.all(Array.from({ length: 50 }, () => sealerFor(keyring, project, 10)));
    expect((await keysOf(project)).map(({ seals }) => seals)).toEqual([1_000]);
  });

  test('makes exactly as many seals as were reserved', async () => {
    const { keyring, project } = await seed();
    const sealer = await keyring.sealer(query, project);
    expect(() => sealer.seal(place(), new SealedText('x'))).toThrow('without Sealer.reserve');
    await Promise.all([sealer.reserve(2), sealer.reserve(1), sealer.reserve(0)]);
    for (let count = 0; count < 3; count += 1) sealer.seal(place(), new SealedText('x'));
    expect(() => sealer.seal(place(), new SealedText('x'))).toThrow('without Sealer.reserve');
    await expect(sealer.reserve(-1)).rejects.toThrow();
    await expect(sealer.reserve(1.5)).rejects.toThrow();
  });

  test('keeps its count when the transaction that asked for it is rolled back', async () => {
    const { keyring, project } = await seed();
    await inTransaction('rollback', async (run) => (await keyring.sealer(run, project)).reserve(5));
    expect((await keysOf(project)).map(({ seals }) => seals)).toEqual([1_000]);
  });

  test('holds no lock on a key while a transaction seals', async () => {
    const { keyring, project } = await seed();
    await inTransaction('commit', async (run) => {
      await (await keyring.sealer(run, project)).reserve(1);
      await sealerFor(node(), project, 1);
    });
  });

  test('seals in the transaction that makes organization and project, and opens after its commit', async () => {
    const keyring = node();
    const at = place();
    const { project, record } = await inTransaction('commit', async (run) => {
      const { organizationId, keyId } = await addOrganization(keyring, run);
      const project = await addProject(keyring, organizationId, keyId, run);
      const sealer = await keyring.sealer(run, project);
      await sealer.reserve(3);
      return { project, record: sealer.seal(at, new SealedText('value')) };
    });
    expect((await keysOf(project)).map(({ seals }) => seals)).toEqual([3]);
    expect((await node().sealer(query, project)).open(at, record).reveal()).toBe('value');
    expect((await sealerFor(keyring, project, 1)).open(at, record).reveal()).toBe('value');
  });

  test('seals with the connection of the caller when no other is to be had', async () => {
    const { project } = await seed();
    const stuck = new Keyring(keys, () => new Promise(() => undefined), NOTHING_DISABLED);
    const sealer = await stuck.sealer(query, project);
    await sealer.reserve(7);
    expect(sealer.seal(place(), new SealedText('x'))).toBeInstanceOf(Buffer);
    expect((await keysOf(project)).map(({ seals }) => seals)).toEqual([7]);
  });

  test('tells the caller when the database fails', async () => {
    const { project } = await seed();
    const failing = new Keyring(keys, () => Promise.reject(new Error('the database is gone')), NOTHING_DISABLED);
    await expect((await failing.sealer(query, project)).reserve(1)).rejects.toThrow('the database is gone');
  });

  test.each([
    ['2^30 seals', `seals_reserved = ${SEAL_LIMIT - 500}`],
    ['365 days', `created_at = now() - interval '365 days 1 minute'`],
  ])('ends a key version after %s; what it sealed still opens', async (_limit, change) => {
    const { keyring, organization, project } = await seed();
    for (const scope of [organization, project]) {
      const at = place();
      const before = (await sealerFor(keyring, scope, 1)).seal(at, new SealedText('old'));
      const [old] = await keysOf(scope);
      await query(`update data_key set ${change} where id = $1`, [old?.id]);
      const later = node();
      const digest = (await keyring.sealer(query, scope)).digest('text');
      const sealer = await sealerFor(later, scope, 3);
      const after = sealer.seal(at, new SealedText('new'));
      const [first, second, ...none] = await keysOf(scope);
      expect(none).toEqual([]);
      expect(first).toMatchObject({ id: old?.id, isRetired: true });
      expect(second).toMatchObject({ isRetired: false, seals: 1_000 });
      expect([keyIdOf(before), keyIdOf(after)]).toEqual([first?.id, second?.id]);
      expect([sealer.open(at, before).reveal(), sealer.open(at, after).reveal()]).toEqual(['old', 'new']);
      expect(sealer.digest('text')).toEqual(digest);
      // The node that missed it learns of the new key when it is told which keys it needs.
      const behind = await keyring.sealer(query, scope);
      expect(() => behind.open(at, after)).toThrow(invalid);
      await keyring.ensureKeys(query, scope, [keyIdOf(before), keyIdOf(after), null]);
      expect(behind.open(at, after).reveal()).toBe('new');
    }
  });

  test('ends a key version once, however many nodes find it ended', async () => {
    const { project } = await seed();
    await query(`update data_key set seals_reserved = $2 where project_id = $1`, [project.projectId, SEAL_LIMIT]);
    const at = place();
    const nodes = Array.from({ length: 8 }, node);
    const records = await Promise.all(
      nodes.map(async (keyring) => (await sealerFor(keyring, project, 1)).seal(at, new SealedText('value'))),
    );
    const keys = await keysOf(project);
    expect(keys.map(({ isRetired }) => isRetired)).toEqual([true, false]);
    expect(new Set(records.map(keyIdOf))).toEqual(new Set([keys[1]?.id]));
  });

  test('opens on the next occasion what another node sealed with a newer key', async () => {
    const { keyring, project } = await seed();
    await keyring.sealer(query, project);
    await query(`update data_key set seals_reserved = $2 where project_id = $1`, [project.projectId, SEAL_LIMIT]);
    const at = place();
    const record = (await sealerFor(node(), project, 1)).seal(at, new SealedText('value'));
    const behind = await keyring.sealer(query, project);
    expect(() => behind.open(at, record)).toThrow(invalid);
    expect(() => behind.open(at, record)).toThrow(invalid);
    expect((await keyring.sealer(query, project)).open(at, record).reveal()).toBe('value');
  });

  test('opens values of many projects with one statement, more projects than it keeps and newer keys too', async () => {
    const { keyring, keyId, organization, project } = await seed();
    const others = [1, 2, 3].map(() => addProject(keyring, organization.organizationId, keyId));
    const projects = [project, ...(await Promise.all(others))];
    await query(`update data_key set seals_reserved = $2 where project_id = $1`, [project.projectId, SEAL_LIMIT]);
    const reader = nodeOf(2);
    for (const one of projects.slice(0, 2)) await reader.sealer(query, one);
    const at = place();
    const records = await Promise.all(
      projects.map(async (one) => (await sealerFor(keyring, one, 1)).seal(at, new SealedText(one.projectId))),
    );
    const keyIds = new Map(
      projects.map(({ projectId }, index) => [projectId, [keyIdOf(records[index] as Buffer), null]]),
    );
    let opened: string[] = [];
    const open = async () => {
      const sealers = await reader.sealers(query, organization.organizationId, keyIds);
      opened = [...sealers.values()].map((sealer, index) => sealer.open(at, records[index] as Buffer).reveal());
    };
    expect(await counted(open)).toBe(1);
    expect(opened).toEqual(projects.map(({ projectId }) => projectId));
  });

  test('wraps a project key with the current organization key when the one asked for has ended', async () => {
    const { keyring, keyId, organization } = await seed();
    await query(`update data_key set created_at = now() - interval '400 days' where id = $1`, [keyId]);
    const later = node();
    const project = await addProject(later, organization.organizationId, keyId);
    const [, current] = await keysOf(organization);
    expect((await keysOf(project)).map(({ parentKeyId }) => parentKeyId)).toEqual([current?.id]);
    const at = place();
    const record = (await sealerFor(later, project, 1)).seal(at, new SealedText('value'));
    expect((await keyring.sealer(query, project)).open(at, record).reveal()).toBe('value');
  });

  test('takes no key of another organization as parent of a project key', async () => {
    const [one, other] = [await seed(), await seed()];
    await expect(
      one.keyring.createProjectKey(query, { ...one.project, parentKeyId: other.keyId }),
    ).rejects.toMatchObject({ code: 'KEY_NOT_FOUND' });
  });

  test('opens nothing of a project for another project or organization, or without the key row', async () => {
    const [one, other] = [await seed(), await seed()];
    const keyring = node();
    const at = place();
    const record = (await sealerFor(keyring, one.project, 1)).seal(at, new SealedText('value'));
    for (const scope of [
      other.project,
      one.organization,
      { ...one.project, organizationId: other.organization.organizationId },
    ]) {
      const sealer = await keyring.sealer(query, scope);
      expect(() => sealer.open(at, record)).toThrow(invalid);
    }
    await query('delete from project where id = $1', [one.project.projectId]);
    const sealer = await node().sealer(query, one.project);
    expect(() => sealer.open(at, record)).toThrow(invalid);
    await expect(sealer.reserve(1)).rejects.toThrow(invalid);
    expect(() => sealer.digest('x')).toThrow(invalid);
  });

  test('opens neither of two projects whose key rows were swapped, and the others as before', async () => {
    const { keyring, keyId, organization, project } = await seed();
    const scopes = [project, await addProject(keyring, organization.organizationId, keyId)];
    const third = await addProject(keyring, organization.organizationId, keyId);
    const at = place();
    const records = await Promise.all(
      [...scopes, third].map(async (scope) => (await sealerFor(keyring, scope, 1)).seal(at, new SealedText('value'))),
    );
    await query(
      `update data_key a set wrapped_key_sealed = b.wrapped_key_sealed from data_key b
       where a.project_id = any($1::uuid[]) and b.project_id = any($1::uuid[]) and a.id <> b.id`,
      [scopes.map(({ projectId }) => projectId)],
    );
    const later = node();
    for (const [index, scope] of scopes.entries()) {
      const sealer = await later.sealer(query, scope);
      expect(() => sealer.open(at, records[index] as Buffer)).toThrow(invalid);
      await expect(sealer.reserve(1)).rejects.toThrow(invalid);
    }
    expect((await later.sealer(query, third)).open(at, records[2] as Buffer).reveal()).toBe('value');
  });

  test('opens nothing with another root key', async () => {
    const { keyring, project } = await seed();
    const at = place();
    const record = (await sealerFor(keyring, project, 1)).seal(at, new SealedText('value'));
    const stranger = await new Keyring(
      new InstallationKeys(new RootKeys(new RootKey(randomBytes(32))), StableKeys.make()),
      query,
      NOTHING_DISABLED,
    ).sealer(query, project);
    expect(() => stranger.open(at, record)).toThrow(invalid);
  });

  test('digests equal texts of a scope equally, on every node, and those of other scopes otherwise', async () => {
    const { keyring, keyId, organization, project } = await seed();
    const other = await addProject(keyring, organization.organizationId, keyId);
    const digests = await Promise.all(
      [organization, project, other].map(async (scope) => (await keyring.sealer(query, scope)).digest('text')),
    );
    expect(new Set(digests.map((digest) => digest.toString('hex'))).size).toBe(3);
    expect(digests[1]).toHaveLength(32);
    expect((await node().sealer(query, project)).digest('text')).toEqual(digests[1]);
    expect((await keyring.sealer(query, project)).digest('texts')).not.toEqual(digests[1]);
  });

  test('keeps the scopes used last, and requests under way are not disturbed when one is let go', async () => {
    const { keyId, organization, project } = await seed();
    const small = nodeOf(2);
    const others = [
      await addProject(small, organization.organizationId, keyId),
      await addProject(small, organization.organizationId, keyId),
    ];
    const sealer = await sealerFor(small, project, 2);
    for (const other of others) await small.sealer(query, other);
    const at = place();
    expect(sealer.open(at, sealer.seal(at, new SealedText('value'))).reveal()).toBe('value');
    expect(await counted(() => small.sealer(query, others[1] as Scope))).toBe(0);
    expect(await counted(() => small.sealer(query, project))).toBe(1);
  });

  test('stores no key in the clear', async () => {
    const { project } = await seed();
    const [row] = await database.query<{ sealed: Buffer }>(
      'select wrapped_key_sealed as sealed from data_key where project_id = $1',
      [project.projectId],
    );
    expect(row?.sealed).toHaveLength(32 + 45);
  });
});
