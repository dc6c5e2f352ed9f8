import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules, type GivenRule } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const rule = (subject: string, action: readonly string[], conditions?: object): GivenRule => ({
  subject,
  action,
  ...(conditions === undefined ? {} : { conditions: { ...conditions } }),
});
const CHANGES = [rule('environments', ['read', 'edit']), rule('secret-folders', ['create', 'edit', 'delete'])];
const OPEN_ENVIRONMENTS = { environment: { $glob: 'open*' } };

/** Who may change folders and environments sees of them what the rules show before the change, and no more after it. */
describe('a folder that the caller may not read', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(...rules: readonly GivenRule[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const make = async (path: string, name: string, environment = at.environment) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, environment, path, name, description: 'of vaults' }))
        .body.folder;
    const { caller } = await callerWithRules(strongroom, admin, project.id, ...rules);
    const environment = `/api/v1/projects/${project.id}/environments/${project.environments[0]?.id}`;
    const rename = (slug: string) => caller.patch(environment, { slug });
    const importInto = async (path: string) =>
      mustSucceed(
        await admin.post('/api/v2/secret-imports', { ...at, path, import: { environment: 'prod', path: '/' } }),
      );
    const move = (folderId: string, newPath: string) => caller.patch(`/api/v2/folders/${folderId}`, { ...at, newPath });
    return { admin, caller, project, at, make, rename, importInto, move };
  }

  test('is not shown by a slug under which the rules show it', async () => {
    const { make, rename } = await seeded(...CHANGES, rule('secret-folders', ['read'], OPEN_ENVIRONMENTS));
    // Also while nothing is in it: a rule that selects by a pattern changes with the slug.
    expect(await rename('open-1')).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await rename('shut'));
    await make('/', 'vault', 'shut');
    expect(await rename('open-2')).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await rename('closed'));
  });

  test('does not show its imports by a slug or a place under which the rules show them', async () => {
    const slugs = await seeded(...CHANGES, rule('secret-imports', ['read'], OPEN_ENVIRONMENTS));
    await slugs.make('/', 'vault');
    await slugs.importInto('/vault');
    expect(await slugs.rename('open-2')).toBeError(403, 'PERMISSION_DENIED');

    const places = await seeded(...CHANGES, rule('secret-imports', ['read'], { secretPath: { $glob: '/open/**' } }));
    await places.make('/', 'open');
    const [bare, importing] = [await places.make('/', 'bare'), await places.make('/', 'importing')];
    await places.importInto('/importing');
    mustSucceed(await places.move(bare.id, '/open'));
    expect(await places.move(importing.id, '/open')).toBeError(403, 'PERMISSION_DENIED');
  });

  test('is not shown by a move to where the rules show it, nor is what is in it', async () => {
    const { make, move } = await seeded(
      ...CHANGES,
      rule('secret-folders', ['read'], { secretPath: { $glob: '/{open,hall/vault}' } }),
    );
    await make('/', 'open');
    await make('/', 'hall');
    const [vault, hall] = [await make('/', 'vault'), await make('/', 'shed')];
    await make('/vault', 'inner');
    expect(await move(vault.id, '/open')).toBeError(403, 'PERMISSION_DENIED');
    expect(await move(vault.id, '/hall')).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await move(hall.id, '/hall'));
  });

  test('keeps its description to itself where it is made again, renamed or deleted', async () => {
    const { admin, caller, at, make } = await seeded(
      ...CHANGES,
      rule('secret-folders', ['read'], { secretPath: '/open' }),
    );
    const { id } = await make('/', 'vault');
    const described = (reply: Awaited<ReturnType<Caller['post']>>) => mustSucceed(reply).body.folder.description;
    const again = (who: Caller, path: string, name: string) =>
      who.post('/api/v2/folders', { ...at, path, name, description: 'my own' });
    expect(described(await again(caller, '/', 'vault'))).toBeNull();
    expect(described(await again(admin, '/', 'vault'))).toBe('of vaults');
    await make('/', 'open');
    await make('/open', 'hall');
    expect(described(await again(caller, '/open', 'hall'))).toBe('of vaults');
    expect(described(await again(caller, '/', 'new'))).toBe('my own');
    const patch = (change: object) => caller.patch(`/api/v2/folders/${id}`, { ...at, ...change });
    expect(described(await patch({ name: 'shed' }))).toBeNull();
    expect(described(await patch({ description: 'told' }))).toBe('told');
    expect(described(await caller.delete('/api/v2/folders/shed', at))).toBeNull();
  });
});
