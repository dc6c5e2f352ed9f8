import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { MAKE_DUE } from '../../../kit/schedules.js';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.js';
import { until } from '../../../kit/until.js';

const VERSIONS = `query ($id: ID!, $first: Int, $after: String) { secretVersions(secretId: $id, viewSecretValue: false, first: $first, after: $after) {
  nodes { version changes } pageInfo { endCursor } } }`;
const NESTED = `query ($input: SearchSecretsInput!) { searchSecrets(input: $input) { nodes { secret { secretKey versions(first: 100) { nodes { version changes } } } } } }`;

type Changes = readonly string[] | null;
interface Version {
  readonly version: number;
  readonly changes: Changes;
}

const strongroom = useSharedStrongroom(LENIENT);

/** What each version of a secret changed, the first one first. */
const changesOf = async (caller: Caller, id: string): Promise<Changes[]> =>
  (await caller.data(VERSIONS, { id })).secretVersions.nodes.map(({ changes }: Version) => changes).toReversed();

async function seeded(environment = 'dev') {
  const { admin, project } = await strongroom.seed.project();
  const at = { projectId: project.id, environment, secretPath: '/' };
  const { body } = mustSucceed(await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'one' }));
  const change = async (key: string, changes: object) =>
    mustSucceed(await admin.patch(`/api/v4/secrets/${key}`, { ...at, ...changes }));
  return { admin, project, at, change, id: body.secret.id as string };
}

async function withRules(admin: Caller, projectId: string, permissions: readonly object[]): Promise<Caller> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, { slug, name: slug, permissions }));
  return strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] });
}

describe('what versions changed', () => {
  test('is each part by itself, and all of one write', async () => {
    const { admin, project, change, id } = await seeded();
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' })).body;
    await change('A', { secretValue: 'two' });
    await change('A', { secretComment: 'said' });
    await change('A', { tagIds: [tag.id] });
    await change('A', { secretMetadata: [{ key: 'shut', value: 'y', isEncrypted: true }] });
    await change('A', { newSecretName: 'B' });
    await change('B', { skipMultilineEncoding: true });
    await change('B', { secretValue: '', secretComment: null, secretMetadata: null });
    await change('B', { secretValue: 'two' });
    await change('B', { secretValue: 'two' });
    const all = [
      null,
      ['VALUE'],
      ['COMMENT'],
      ['TAGS'],
      ['METADATA'],
      ['KEY'],
      ['SETTINGS'],
      ['VALUE', 'COMMENT', 'METADATA'],
      ['VALUE'],
      [],
    ];
    expect(await changesOf(admin, id)).toEqual(all);
    const rest = await admin.get(`/api/v1/secrets/${id}/versions/8`);
    expect(rest.body.secretVersion).toMatchObject({ version: 8, changes: all[7] });
    const [hit] = (await admin.data(NESTED, { input: { key: { equals: 'B' }, projectIds: [project.id] } }))
      .searchSecrets.nodes;
    expect(hit.secret.versions.nodes.map(({ changes }: Version) => changes).toReversed()).toEqual(all);
  });

  test('is the same on every page, though a page does not have the version before its last one', async () => {
    const { admin, change, id } = await seeded();
    for (const value of ['two', 'three', 'four']) await change('A', { secretValue: value });
    const page = (await admin.data(VERSIONS, { id, first: 2 })).secretVersions;
    expect(page.nodes).toEqual([
      { version: 4, changes: ['VALUE'] },
      { version: 3, changes: ['VALUE'] },
    ]);
    const rest = (await admin.data(VERSIONS, { id, first: 2, after: page.pageInfo.endCursor })).secretVersions;
    expect(rest.nodes).toEqual([
      { version: 2, changes: ['VALUE'] },
      { version: 1, changes: null },
    ]);
  });

  test('of a restored version is what it brought back, and of a restored secret what differs from the deleted one', async () => {
    const { admin, at, change, id } = await seeded();
    await change('A', { secretValue: 'two', secretComment: 'said' });
    mustSucceed(await admin.post(`/api/v1/secrets/${id}/restore`, { version: 1 }));
    mustSucceed(await admin.delete('/api/v4/secrets/A', at));
    mustSucceed(await admin.post(`/api/v1/secrets/${id}/restore`, { version: 2 }));
    expect(await changesOf(admin, id)).toEqual([
      null,
      ['VALUE', 'COMMENT'],
      ['VALUE', 'COMMENT'],
      [],
      ['VALUE', 'COMMENT'],
    ]);
  });

  test('is unknown once the version before is not kept, and for values without a digest until they have one', async () => {
    const { admin, change, id } = await seeded();
    for (const value of ['two', 'three', 'four']) await change('A', { secretValue: value });
    await strongroom.sql('delete from secret_version where secret_id = $1 and version = 2', [id]);
    expect(await changesOf(admin, id)).toEqual([null, null, ['VALUE']]);
    await strongroom.sql('update secret_version set value_digest = null where secret_id = $1 and version = 3', [id]);
    expect(await changesOf(admin, id)).toEqual([null, null, null]);
    await strongroom.sql(MAKE_DUE, ['secrets:digest-values']);
    await until(
      'the value to have a digest',
      30_000,
      async () => (await changesOf(admin, id)).at(-1)?.includes('VALUE') === true,
    );
  });

  test('leaves out that a value changed which the caller may not read, and anything before what is hidden', async () => {
    const { admin, project, change, id } = await seeded();
    await change('A', { secretValue: 'two', secretComment: 'said' });
    await change('A', { newSecretName: 'B', secretValue: 'three' });
    const describing = await withRules(admin, project.id, [{ subject: 'secrets', action: ['describeSecret'] }]);
    expect(await changesOf(describing, id)).toEqual([null, ['COMMENT'], ['KEY']]);
    const ofB = await withRules(admin, project.id, [
      { subject: 'secrets', action: ['describeSecret'] },
      { subject: 'secrets', action: ['readValue'], conditions: { secretName: 'B' } },
    ]);
    expect(await changesOf(ofB, id)).toEqual([null, ['COMMENT'], ['KEY']]);
    const seesB = await withRules(admin, project.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { secretName: 'B' } },
    ]);
    await change('B', { secretValue: 'four' });
    expect(await changesOf(seesB, id)).toEqual([null, ['VALUE']]);
  });

  test('of many secrets and versions take as many statements as of one', async () => {
    const { admin, project, at } = await seeded();
    const secrets = Array.from({ length: 50 }, (_, index) => ({ secretKey: `MANY_${index}`, secretValue: 'v' }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { ...at, secrets }));
    const next = secrets.map(({ secretKey }) => ({ secretKey, secretValue: 'w', secretComment: 'said' }));
    mustSucceed(await admin.patch('/api/v4/secrets/batch', { ...at, secrets: next }));
    const count = (glob: string) =>
      strongroom.statements(() => admin.data(NESTED, { input: { key: { glob }, projectIds: [project.id] } }));
    const [one, many] = [await count('MANY_1'), await count('MANY_*')];
    expect(many.count).toBe(one.count);
    for (const { secret } of many.result.searchSecrets.nodes)
      expect(secret.versions.nodes[0].changes).toEqual(['VALUE', 'COMMENT']);
  });
});
