import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const SIGHT = ['describeSecret', 'readValue'];
const TAGS: GivenRule = { subject: 'tags', action: ['read', 'edit', 'delete'] };
const secrets = (action: readonly string[], conditions?: object, inverted = false): GivenRule => ({
  subject: 'secrets',
  action,
  inverted,
  ...(conditions === undefined ? {} : { conditions: { ...conditions } }),
});
const hidden = (conditions: object): GivenRule => secrets(SIGHT, conditions, true);

/** Rules look at versions by the tags and the environment that those have, by the slugs of today. */
describe('versions and deleted secrets that conditions hide', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(...rules: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const tags = `/api/v1/projects/${project.id}/tags`;
    const tag = mustSucceed(await admin.post(tags, { slug: 'hush', color: 'red' })).body.tag.id as string;
    const put = async (secretKey: string, more: object = {}) =>
      mustSucceed(
        await admin.post(`/api/v4/secrets/${secretKey}`, { ...at, secretValue: 'sesame', tagIds: [tag], ...more }),
      ).body.secret.id as string;
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...rules);
    const environment = `/api/v1/projects/${project.id}/environments/${project.environments[0]?.id}`;
    const folder = async (name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, name })).body.folder.id as string;
    return { admin, caller, project, at, put, folder, environment, tag: `${tags}/${tag}` };
  }

  const first = (caller: Caller, id: string) => caller.get(`/api/v1/secrets/${id}/versions/1`);

  const deleted = async (caller: Caller, projectId: string, environment = 'dev'): Promise<string[]> => {
    const query = new URLSearchParams({ projectId, environment, recursive: 'true' });
    const { deletedSecrets } = mustSucceed(await caller.get(`/api/v1/secrets/deleted?${query}`)).body;
    return deletedSecrets.map(({ secretKey }: { secretKey: string }) => secretKey);
  };

  async function expectTagKept(caller: Caller, tag: string): Promise<void> {
    expect(await caller.patch(tag, { slug: 'loud' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.delete(tag)).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await caller.patch(tag, { color: 'blue' }));
  }

  test.each([
    ['who may not edit secrets', []],
    ['who may edit them', ['edit']],
  ])('keep their tag against callers %s', async (_, more) => {
    const { admin, caller, project, at, put, tag } = await seeded(
      TAGS,
      secrets([...SIGHT, ...more]),
      hidden({ secretTags: { $in: ['hush'] } }),
    );
    const [was, gone] = [await put('WAS'), await put('GONE')];
    mustSucceed(await admin.patch('/api/v4/secrets/WAS', { ...at, secretValue: 'harmless', tagIds: [] }));
    await expectTagKept(caller, tag);
    mustSucceed(await admin.delete('/api/v4/secrets/GONE', at));
    mustSucceed(await admin.patch('/api/v4/secrets/WAS', { ...at, secretValue: 'harmless' }));
    await expectTagKept(caller, tag);
    expect(await first(caller, was)).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    expect(await first(caller, gone)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await deleted(caller, project.id)).toEqual([]);
  });

  test('keep their tag also where they are hidden only at the place where they would come back', async () => {
    const { admin, caller, project, at, put, folder, tag } = await seeded(
      TAGS,
      secrets([...SIGHT, 'edit']),
      hidden({ secretTags: { $in: ['hush'] }, secretPath: '/vault' }),
    );
    const hall = await folder('hall');
    await put('GONE', { secretPath: '/hall' });
    mustSucceed(await admin.delete('/api/v4/secrets/GONE', { ...at, secretPath: '/hall' }));
    mustSucceed(await admin.patch(`/api/v2/folders/${hall}`, { ...at, name: 'vault' }));
    await expectTagKept(caller, tag);
    expect(await deleted(caller, project.id)).toEqual([]);
  });

  test('keep the slug of their environment', async () => {
    const { admin, caller, project, at, put, environment } = await seeded(
      secrets(['edit']),
      secrets(SIGHT, { environment: { $glob: 'open*' } }),
      { subject: 'environments', action: ['read', 'edit'] },
      { subject: 'secret-folders', action: ['read', 'edit'] },
    );
    const gone = await put('GONE');
    mustSucceed(await admin.delete('/api/v4/secrets/GONE', at));
    expect(await caller.patch(environment, { slug: 'open-1' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.patch(environment, { slug: 'shut' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await deleted(caller, project.id)).toEqual([]);
    expect(await first(caller, gone)).toBeError(404, 'SECRET_NOT_FOUND');
  });

  test('leave tags to who sees and edits all that has them, in a number of statements that does not grow', async () => {
    const { admin, caller, at, put, tag } = await seeded(
      TAGS,
      secrets([...SIGHT, 'edit']),
      hidden({ secretTags: { $in: ['other'] } }),
    );
    const rename = (slug: string) => strongroom.statements(() => caller.patch(tag, { slug }));
    await put('FIRST');
    const { count } = await rename('one');
    for (const key of ['A', 'B', 'C', 'D']) await put(key);
    mustSucceed(await admin.patch('/api/v4/secrets/A', { ...at, tagIds: [] }));
    mustSucceed(await admin.delete('/api/v4/secrets/B', at));
    const more = await rename('two');
    expect([mustSucceed(more.result).body.tag.slug, more.count]).toEqual(['two', count]);
    expect((await caller.delete(tag)).status).toBe(200);
  });
});
