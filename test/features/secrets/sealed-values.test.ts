import { useSharedStrongroom } from '../../kit/strongroom.js';

describe('a sealed value that does not open', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const secrets = ['A', 'B', 'C'].map((secretKey) => ({
      secretKey,
      secretValue: `value of ${secretKey}`,
      secretComment: `comment of ${secretKey}`,
      secretMetadata: [{ key: 'k', value: `metadata of ${secretKey}`, isEncrypted: true }],
    }));
    const created = (await admin.post('/api/v4/secrets/batch', { ...at, secrets })).body.secrets as { id: string }[];
    const list = () => admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);
    return { admin, project, at, list, ids: created.map(({ id }) => id) };
  }

  const swap = (column: string, [one, other]: readonly (string | undefined)[]) =>
    strongroom.sql(
      `update secret s set ${column} = o.${column} from secret o where (s.id = $1 and o.id = $2) or (s.id = $2 and o.id = $1)`,
      [one, other],
    );

  test('because two were swapped is withheld in the list and named, and is 503 alone: never a wrong value', async () => {
    const { admin, project, ids, list } = await seeded();
    await swap('value_sealed', ids);
    const reply = await list();
    expect(reply.status).toBe(200);
    expect(reply.headers['x-unreadable-values']).toBe('2');
    expect(
      reply.body.secrets.map((it: { secretValue: string; secretValueHidden: boolean }) => [
        it.secretValue,
        it.secretValueHidden,
      ]),
    ).toEqual([
      ['<hidden>', true],
      ['<hidden>', true],
      ['value of C', false],
    ]);
    const { secrets } = await admin.data(
      `query ($p: ID!) { secrets(projectId: $p, environment: "dev") { nodes { secretValue } readIssues { secretId reason } } }`,
      { p: project.id },
    );
    expect(secrets.nodes).toEqual([{ secretValue: null }, { secretValue: null }, { secretValue: 'value of C' }]);
    expect(secrets.readIssues).toEqual(
      ids.slice(0, 2).map((secretId) => ({ secretId, reason: 'VALUE_DOES_NOT_OPEN' })),
    );
    const single = await admin.get(`/api/v4/secrets/id/${ids[0]}`);
    expect(single).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(single.text).not.toContain('value of');
    const rows = await strongroom.auditRows('request_id = any($1::uuid[])', [
      [reply.headers['x-request-id'], single.headers['x-request-id']],
    ]);
    expect(rows.map(({ action, facts }) => [action, facts.unreadable])).toEqual([
      ['secret:list', 2],
      ['secret:get', 1],
    ]);
    expect(
      (await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&viewSecretValue=false`)).headers[
        'x-unreadable-values'
      ],
    ).toBeUndefined();
  });

  test.each(['comment_sealed', 'metadata_sealed'])('is withheld the same in %s', async (column) => {
    const { ids, list } = await seeded();
    await swap(column, ids);
    const reply = await list();
    expect(reply.headers['x-unreadable-values']).toBe('2');
    const part = column === 'comment_sealed' ? 'comment' : 'metadata';
    expect(reply.text.split(`${part} of`)).toHaveLength(2);
    expect(reply.text).toContain(`${part} of C`);
    expect(reply.body.secrets[0].secretValue).toBe('value of A');
  });

  test('because it is of another column, of an older version, or of another project, is withheld too', async () => {
    const { admin, at, ids, list } = await seeded();
    const [older] = await strongroom.sql('select value_sealed from secret where id = $1', [ids[0]]);
    await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'newer' });
    await strongroom.sql('update secret set value_sealed = $2 where id = $1', [ids[0], older?.value_sealed]);
    await strongroom.sql('update secret set value_sealed = comment_sealed where id = $1', [ids[1]]);
    const other = await seeded();
    const [foreign] = await strongroom.sql('select value_sealed from secret where id = $1', [other.ids[0]]);
    await strongroom.sql('update secret set value_sealed = $2 where id = $1', [ids[2], foreign?.value_sealed]);
    const reply = await list();
    expect(reply.headers['x-unreadable-values']).toBe('3');
    expect(reply.text).not.toMatch(/value of|newer/);
  });

  test('is mended by writing it anew, and refuses an update that would keep it', async () => {
    const { admin, at, ids, list } = await seeded();
    await swap('value_sealed', ids);
    expect(await admin.patch('/api/v4/secrets/A', { ...at, secretComment: 'x' })).toBeError(
      503,
      'SEALED_VALUE_INVALID',
    );
    const mended = await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'mended' });
    expect(mended.body.secret).toMatchObject({ version: 2, secretValue: 'mended', secretComment: 'comment of A' });
    expect((await admin.delete('/api/v4/secrets/B', at)).status).toBe(200);
    expect((await list()).headers['x-unreadable-values']).toBeUndefined();
  });
});
