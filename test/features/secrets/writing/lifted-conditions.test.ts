import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const DESCRIBES_AND_EDITS: GivenRule = { subject: 'secrets', action: ['describeSecret', 'edit'] };
const EDITS_FOLDERS: GivenRule = { subject: 'secret-folders', action: ['read', 'edit'] };
const EDITS_TAGS: GivenRule = { subject: 'tags', action: ['read', 'edit', 'delete'] };

const reads = (conditions: GivenRule['conditions'], action: readonly string[] = ['readValue']): GivenRule => ({
  subject: 'secrets',
  action,
  conditions,
});
const notOfTag = (slug: string): readonly GivenRule[] => [
  { subject: 'secrets', action: ['describeSecret', 'edit', 'readValue'] },
  { subject: 'secrets', action: ['readValue'], inverted: true, conditions: { secretTags: { $in: [slug] } } },
];

/** Who may edit a secret may change what rules look at of it. None of these changes may show him more than he saw. */
describe('a change that would let the rules show more of a secret', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(...rules: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const put = async (secretKey: string, more: object = {}) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${secretKey}`, { ...at, secretValue: 'sesame', ...more })).body
        .secret.id as string;
    const tags = `/api/v1/projects/${project.id}/tags`;
    const tag = async (slug: string) =>
      mustSucceed(await admin.post(tags, { slug, color: 'red' })).body.tag.id as string;
    const folder = async (name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, name })).body.folder.id as string;
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...rules);
    return { admin, caller, project, at, put, tag, tags, folder };
  }

  /** The value of every secret that the caller may know of, by path and key. */
  async function seen(caller: Caller, projectId: string, environment = 'dev'): Promise<Record<string, string>> {
    const query = new URLSearchParams({ projectId, environment, recursive: 'true' });
    const { secrets } = mustSucceed(await caller.get(`/api/v4/secrets?${query}`)).body;
    return Object.fromEntries(
      secrets.map((it: Record<string, string>) => [`${it.secretPath} ${it.secretKey}`, it.secretValue]),
    );
  }

  test('is no new key, alone or with a new value, nor in a batch', async () => {
    const { caller, at, project, put } = await seeded(DESCRIBES_AND_EDITS, reads({ secretName: { $glob: 'PUB_*' } }));
    await put('HID');
    const change = { ...at, newSecretName: 'PUB_HID' };
    expect(await caller.patch('/api/v4/secrets/HID', change)).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.patch('/api/v4/secrets/HID', { ...change, secretValue: 'own' })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    const secrets = [{ secretKey: 'HID', newSecretName: 'PUB_HID' }];
    expect(await caller.patch('/api/v4/secrets/batch', { ...at, secrets })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await caller.patch('/api/v4/secrets/HID', { ...at, newSecretName: 'HIDDEN' }));
    expect(await seen(caller, project.id)).toEqual({ '/ HIDDEN': '<hidden>' });
  });

  test('is refused also where the same change backwards is allowed', async () => {
    const { caller, at, project, put } = await seeded(DESCRIBES_AND_EDITS, reads({ secretName: { $glob: 'PUB_*' } }));
    await put('PUB_A');
    mustSucceed(await caller.patch('/api/v4/secrets/PUB_A', { ...at, newSecretName: 'PUB_B' }));
    mustSucceed(await caller.patch('/api/v4/secrets/PUB_B', { ...at, newSecretName: 'B' }));
    expect(await caller.patch('/api/v4/secrets/B', { ...at, newSecretName: 'PUB_B' })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    expect(await seen(caller, project.id)).toEqual({ '/ B': '<hidden>' });
  });

  test('is no tag that the secret gets or loses', async () => {
    const { caller, at, project, put, tag } = await seeded(
      DESCRIBES_AND_EDITS,
      reads({ secretTags: { $in: ['public'] } }),
    );
    await put('HID');
    const change = { ...at, tagIds: [await tag('public')] };
    expect(await caller.patch('/api/v4/secrets/HID', change)).toBeError(403, 'PERMISSION_DENIED');
    expect(await seen(caller, project.id)).toEqual({ '/ HID': '<hidden>' });

    const other = await seeded(...notOfTag('private'));
    await other.put('HID', { tagIds: [await other.tag('private')] });
    expect(await other.caller.patch('/api/v4/secrets/HID', { ...other.at, tagIds: [] })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    expect(await seen(other.caller, other.project.id)).toEqual({ '/ HID': '<hidden>' });
  });

  test('is no tag that goes, or gets another slug', async () => {
    const { caller, project, put, tag, tags } = await seeded(EDITS_TAGS, ...notOfTag('private'));
    const [hiding, unused] = [await tag('private'), await tag('unused')];
    await put('HID', { tagIds: [hiding] });
    expect(await caller.delete(`${tags}/${hiding}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.patch(`${tags}/${hiding}`, { slug: 'other' })).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await caller.patch(`${tags}/${hiding}`, { color: 'blue' }));
    mustSucceed(await caller.delete(`${tags}/${unused}`));
    expect(await seen(caller, project.id)).toEqual({ '/ HID': '<hidden>' });
  });

  test('is no folder that goes elsewhere, be its secrets hidden or only their values', async () => {
    const openPath = { secretPath: { $glob: '/pub/**' } };
    for (const rules of [
      [DESCRIBES_AND_EDITS, EDITS_FOLDERS, reads(openPath)],
      [{ subject: 'secrets', action: ['edit'] }, EDITS_FOLDERS, reads(openPath, ['describeSecret', 'readValue'])],
    ]) {
      const { admin, caller, at, project, put, folder } = await seeded(...rules);
      const [vault] = [await folder('vault'), await folder('pub')];
      await put('HID', { secretPath: '/vault' });
      const before = await seen(caller, project.id);
      expect(await caller.patch(`/api/v2/folders/${vault}`, { ...at, newPath: '/pub' })).toBeError(
        403,
        'PERMISSION_DENIED',
      );
      // Nor under another name that shows him nothing: who may not read what is in it may not move it either.
      const renamed = { ...at, name: 'cellar' };
      expect(await caller.patch(`/api/v2/folders/${vault}`, renamed)).toBeError(403, 'PERMISSION_DENIED');
      expect(await seen(caller, project.id)).toEqual(before);
      expect(await seen(admin, project.id)).toEqual({ '/vault HID': 'sesame' });
    }
  });

  test('is no other slug of an environment', async () => {
    const { caller, project, put } = await seeded(
      DESCRIBES_AND_EDITS,
      EDITS_FOLDERS,
      { subject: 'environments', action: ['read', 'edit'] },
      reads({ environment: { $glob: 'open*' } }),
    );
    await put('HID');
    const dev = `/api/v1/projects/${project.id}/environments/${project.environments[0]?.id}`;
    expect(await caller.patch(dev, { slug: 'open-1' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.patch(dev, { slug: 'shut' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await seen(caller, project.id)).toEqual({ '/ HID': '<hidden>' });
  });

  test('is no restore of what a secret was, nor of what a folder was', async () => {
    const { admin, caller, at, project, put, tag } = await seeded(...notOfTag('private'));
    const id = await put('HID');
    const moment = (await strongroom.sql<{ now: Date }>('select clock_timestamp() as now from pg_sleep(0.003)'))[0]
      ?.now;
    await strongroom.sql('select pg_sleep(0.003)');
    mustSucceed(await admin.patch('/api/v4/secrets/HID', { ...at, tagIds: [await tag('private')] }));
    expect(await caller.post(`/api/v1/secrets/${id}/restore`, { version: 1 })).toBeError(403, 'PERMISSION_DENIED');
    for (const dryRun of [true, false]) {
      const body = { ...at, secretPath: '/', at: moment?.toISOString(), dryRun };
      expect(await caller.post('/api/v1/secrets/restore', body)).toBeError(403, 'PERMISSION_DENIED');
    }
    expect(await seen(caller, project.id)).toEqual({ '/ HID': '<hidden>' });
  });
});
