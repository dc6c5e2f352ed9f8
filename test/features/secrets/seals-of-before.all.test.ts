import { randomBytes } from 'node:crypto';
import { openInstallationKeys } from '../../../src/kernel/crypto/installation.js';
import { Keyring } from '../../../src/kernel/crypto/keyring.js';
import { RootKey } from '../../../src/kernel/crypto/root-key.js';
import { RootKeys } from '../../../src/kernel/crypto/root-keys.js';
import type { Query } from '../../../src/kernel/database/database.js';
import { mustSucceed } from '../../kit/caller.js';
import { NOTHING_DISABLED } from '../../kit/nothing-disabled.js';
import { type Caller, useStrongroom } from '../../kit/strongroom.js';
import { tamper, untilSealed } from '../../kit/trail.js';

const rootKey = randomBytes(32);
const COLUMNS = { value_sealed: 'value', comment_sealed: 'comment', metadata_sealed: 'metadata' } as const;

describe('a database where secrets and their versions are sealed alike', () => {
  const strongroom = useStrongroom({ ROOT_KEY: rootKey.toString('base64') });
  const sql = ((text: string, params: unknown[] = []) => strongroom.sql(text, params)) as Query;

  async function seeded() {
    const { admin, project, organization } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const contents = (text: string) => ({
      secretValue: `value ${text}`,
      secretComment: `comment ${text}`,
      secretMetadata: [{ key: 'k', value: `metadata ${text}`, isEncrypted: true }],
    });
    const made = async (key: string) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, ...contents('one') })).body.secret.id as string;
    const [kept, gone, done] = [await made('KEPT'), await made('GONE'), await made('DONE')];
    mustSucceed(await admin.patch('/api/v4/secrets/KEPT', { ...at, ...contents('two') }));
    mustSucceed(await admin.delete('/api/v4/secrets/GONE', at));
    return { admin, at, kept, gone, done, scope: { organizationId: organization.id, projectId: project.id } };
  }

  /** Seals everything of a secret as it was sealed before: the row and its version have the same bytes. */
  async function sealAsBefore(scope: { organizationId: string; projectId: string }, id: string): Promise<void> {
    const keys = await openInstallationKeys(sql, new RootKeys(new RootKey(rootKey)));
    const sealer = await new Keyring(keys, sql, NOTHING_DISABLED).sealer(sql, scope);
    await sealer.reserve(100);
    const versions = await sql<{ version: number; value_sealed: Buffer | null } & Record<string, Buffer | null>>(
      'select * from secret_version where secret_id = $1',
      [id],
    );
    for (const row of versions) {
      for (const [name, column] of Object.entries(COLUMNS)) {
        const sealed = row[name];
        if (sealed == null) continue;
        const place = { column, rowId: id, rowVersion: row.version };
        const text = sealer.open({ ...place, table: 'secret_version' }, sealed);
        await sql(`update secret_version set ${name} = $3 where secret_id = $1 and version = $2`, [
          id,
          row.version,
          sealer.seal({ ...place, table: 'secret' }, text),
        ]);
      }
    }
    await sql(
      `update secret s set value_sealed = v.value_sealed, comment_sealed = v.comment_sealed, metadata_sealed = v.metadata_sealed
       from secret_version v where s.id = $1 and v.secret_id = s.id and v.version = s.version`,
      [id],
    );
  }

  const shownOf = async (caller: Caller, id: string): Promise<unknown> => {
    const { secret } = (await caller.get(`/api/v4/secrets/id/${id}`)).body;
    return secret && [secret.secretValue, secret.secretComment, secret.secretMetadata[0].value];
  };
  const texts = (text: string) => [`value ${text}`, `comment ${text}`, `metadata ${text}`];

  test('is sealed anew by the next start, which goes on where one before it was stopped, and once only', async () => {
    const { admin, at, kept, gone, done, scope } = await seeded();
    // The rows of one secret are done already.
    for (const id of [kept, gone]) await sealAsBefore(scope, id);
    const [old] = await sql<Record<string, unknown>>(
      'select value_sealed from secret_version where secret_id = $1 and version = 1',
      [kept],
    );
    // Whoever seals just then has read the one table and waits for the other one, in a circle with the truncation.
    await untilSealed(strongroom.sql);
    await tamper(strongroom.sql, 'truncate audit_record, audit_seal');
    const digestOf = async (id: string) =>
      (await sql('select value_digest from secret where id = $1', [id]))[0]?.value_digest;
    const digest = await digestOf(kept);
    await sql('update secret set value_digest = null');
    await sql('drop table secret_reseal');
    await sql(`delete from schema_migration where name = '0012-separate-seals'`);
    expect(await admin.get(`/api/v4/secrets/id/${kept}`)).toBeError(503, 'SEALED_VALUE_INVALID');

    const node = await strongroom.startSecondNode();
    const caller = admin.at(node.url);
    expect(await sql('select * from secret_reseal')).toEqual([]);
    expect(await digestOf(kept)).toEqual(digest);
    expect([await shownOf(caller, kept), await shownOf(caller, done)]).toEqual([texts('two'), texts('one')]);
    const versions = await caller.get(`/api/v1/secrets/${kept}/versions`);
    expect(versions.body.secretVersions.map(({ secretValue }: { secretValue: string }) => secretValue)).toEqual([
      'value two',
      'value one',
    ]);
    mustSucceed(await caller.post(`/api/v1/secrets/${gone}/restore`, { version: 1 }));
    expect(await shownOf(caller, gone)).toEqual(texts('one'));
    const { differences, output } = await strongroom.verifyAudit();
    expect(differences).toEqual([]);
    expect(output).toContain('\n2 secrets match the trail, 0 differ, 1 were last changed before');

    // A row of before that somebody kept, and the list that asks for it to be sealed anew.
    await sql('update secret set value_sealed = $2, version = 1 where id = $1', [kept, old?.value_sealed]);
    expect(await caller.get(`/api/v4/secrets/id/${kept}`)).toBeError(503, 'SEALED_VALUE_INVALID');
    await sql('insert into secret_reseal (project_id, organization_id) select id, organization_id from project');
    const later = await strongroom.startSecondNode();
    expect(later.service.output).toContain('resealing refused');
    expect(await admin.at(later.url).get(`/api/v4/secrets/id/${kept}`)).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(await sql('select * from secret_reseal')).toEqual([]);
    expect((await strongroom.verifyAudit()).differences).toEqual([`secret ${kept}: has version 1; the trail has 2`]);
    expect(mustSucceed(await caller.get(`/api/v4/secrets?projectId=${at.projectId}&environment=dev`)).status).toBe(200);
    expect(await Promise.all([node.stop(), later.stop()])).toEqual([0, 0]);
  });
});
