import { randomBytes, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { openInstallationKeys, recordInstallation } from '../../../src/kernel/crypto/installation.js';
import { Keyring } from '../../../src/kernel/crypto/keyring.js';
import { RootKey } from '../../../src/kernel/crypto/root-key.js';
import { changeRootKey } from '../../../src/kernel/crypto/root-key-change.js';
import { type InstallationKeys, RootKeys } from '../../../src/kernel/crypto/root-keys.js';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import { StableKeys } from '../../../src/kernel/crypto/stable-keys.js';
import { Database, type Query } from '../../../src/kernel/database/database.js';
import { NO_ID } from '../../../src/kernel/ids.js';
import { migratedDatabase } from '../../kit/databases.js';
import { NOTHING_DISABLED } from '../../kit/nothing-disabled.js';

const invalid = expect.objectContaining({ code: 'SEALED_VALUE_INVALID' });
const made = (): RootKey => new RootKey(randomBytes(32));
const LABELS = ['audit', 'audit-seal', 'rate-limits', 'new-label'];
const keysOf = (keys: Pick<InstallationKeys, 'macKey'>, labels = LABELS): string[] =>
  labels.map((label) => keys.macKey(label).toString('hex'));

/** Where they are sealed. */
const PLACE = {
  organizationId: NO_ID,
  projectId: null,
  table: 'installation',
  column: 'kept_keys_sealed',
  rowId: NO_ID,
  rowVersion: 1,
};

describe('kept keys', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.connect(await migratedDatabase(), {});
  });
  afterAll(() => database?.close());
  beforeEach(() => database.query('delete from installation'));

  /** In one transaction, as the program does it. */
  const change = (from: RootKey, to: RootKey, end: 'commit' | 'rollback' = 'commit') =>
    database.withConnection(async (query) => {
      await query('begin');
      const result = await changeRootKey(query, from, to);
      await query(end);
      return result;
    });

  async function addOrganization(keyring: Keyring, run: Query = database.query): Promise<string> {
    const id = randomUUID();
    await run('insert into organization (id, name, slug) values ($1, $2, $3)', [id, 'o', id]);
    await keyring.createOrganizationKey(run, id);
    return id;
  }

  test('are random in an empty database and the same at each later start', async () => {
    const rootKey = made();
    const first = await recordInstallation(database.query, new RootKeys(rootKey));
    const second = await recordInstallation(database.query, new RootKeys(rootKey));
    expect(keysOf(second)).toEqual(keysOf(first));
    await database.query('delete from installation');
    const other = await recordInstallation(database.query, new RootKeys(rootKey));
    expect(new Set([...keysOf(first), ...keysOf(other)]).size).toBe(8);
    const id = randomUUID();
    const cursorKey = (keys: InstallationKeys, kind: string) => keys.cursorKey(id, kind).key.export().toString('hex');
    expect(cursorKey(second, 'a')).toBe(cursorKey(first, 'a'));
    expect(cursorKey(first, 'b')).not.toBe(cursorKey(first, 'a'));
  });

  test('that are stored by themselves stay what the audit trail was written with, through two changes of the root key', async () => {
    const [one, two, three] = [made(), made(), made()];
    const known = ['audit', 'audit-seal', 'rate-limits'];
    const own = known.map((label) => [label, randomBytes(32)] as const);
    const stored = {
      base: randomBytes(32).toString('base64'),
      older: Object.fromEntries(own.map(([label, key]) => [label, key.toString('base64')])),
    };
    await database.query('insert into installation (key_check_value, kept_keys_sealed) values ($1, $2)', [
      one.checkValue(),
      one.wrap(Buffer.from(JSON.stringify(stored)), PLACE),
    ]);
    const first = await recordInstallation(database.query, new RootKeys(one));
    expect(keysOf(first, known)).toEqual(own.map(([, key]) => key.toString('hex')));
    await change(one, two);
    await change(two, three);
    expect(keysOf(await recordInstallation(database.query, new RootKeys(three)))).toEqual(keysOf(first));
  });

  test('that are missing or were changed are never made again', async () => {
    const rootKey = made();
    await recordInstallation(database.query, new RootKeys(rootKey));
    for (const sealed of [null, rootKey.wrap(Buffer.from('{}'), { ...PLACE, rowVersion: 2 })]) {
      await database.query('update installation set kept_keys_sealed = $1', [sealed]);
      await expect(recordInstallation(database.query, new RootKeys(rootKey))).rejects.toThrow(invalid);
    }
  });

  test('show nothing when they are printed, and open with their root key only', () => {
    const rootKey = made();
    const kept = StableKeys.make();
    expect(inspect(kept, { showHidden: true, depth: 9 }) + JSON.stringify(kept)).toBe('StableKeys {}{}');
    const record = kept.seal(rootKey);
    expect(keysOf(StableKeys.open(rootKey, record))).toEqual(keysOf(kept));
    expect(() => StableKeys.open(made(), record)).toThrow(invalid);
  });

  test('and all keys of organizations change their root key together, or not at all', async () => {
    const [one, two] = [made(), made()];
    const keys = await recordInstallation(database.query, new RootKeys(one, two));
    const keyring = new Keyring(keys, database.query, NOTHING_DISABLED);
    const organizationId = await addOrganization(keyring);
    const scope = { organizationId, projectId: null };
    const sealer = await keyring.sealer(database.query, scope);
    await sealer.reserve(1);
    const at = { table: 't', column: 'c', rowId: randomUUID(), rowVersion: 1 };
    const record = sealer.seal(at, new SealedText('value'));
    const opened = async (rootKey: RootKey) => {
      const own = await openInstallationKeys(database.query, new RootKeys(rootKey));
      return (await new Keyring(own, database.query, NOTHING_DISABLED).sealer(database.query, scope))
        .open(at, record)
        .reveal();
    };

    expect(await change(one, two, 'rollback')).toMatchObject({ rewrapped: expect.any(Number) });
    expect(await opened(one)).toBe('value');
    const { count } = (
      await database.query<{ count: number }>('select count(*)::integer as count from data_key')
    )[0] as { count: number };
    expect(await change(one, two)).toMatchObject({ rewrapped: expect.any(Number) });
    expect(count).toBeGreaterThan(0);
    expect(await opened(two)).toBe('value');
    await expect(opened(one)).rejects.toThrow(invalid);
    expect(await change(one, two)).toBeNull();
    await expect(change(two, one).then(() => change(made(), made()))).rejects.toThrow(invalid);
  });

  test('let a node add keys of organizations during the change, wrapped by the root key of the database', async () => {
    const [one, two] = [made(), made()];
    const node = new Keyring(
      await recordInstallation(database.query, new RootKeys(one, two)),
      database.query,
      NOTHING_DISABLED,
    );
    let added: Promise<string> | undefined;
    await database.withConnection(async (query) => {
      await query('begin');
      await changeRootKey(query, one, two);
      added = addOrganization(node);
      await Promise.race([added.catch(() => undefined), new Promise((wake) => setTimeout(wake, 200))]);
      await query('commit');
    });
    const organizationId = (await added) as string;
    const keys = await openInstallationKeys(database.query, new RootKeys(two));
    const sealer = await new Keyring(keys, database.query, NOTHING_DISABLED).sealer(database.query, {
      organizationId,
      projectId: null,
    });
    await expect(sealer.reserve(1)).resolves.toBeUndefined();
  });
});
