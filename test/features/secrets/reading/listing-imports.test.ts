import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { importsOf, linesOf, Tree } from '../tree.js';

/** The fields of a secret in an import entry. */
const FIELDS =
  `_id actor environment id isRotatedSecret rotationId secretComment secretKey secretMetadata secretReminderNote
  secretReminderRepeatDays secretValue secretValueHidden skipMultilineEncoding type version workspace`.split(/\s+/);

describe('the list of secrets with imports', () => {
  const strongroom = useSharedStrongroom();

  /** Folders with one secret each: `NAME`, whose value is the path. */
  async function planted(...paths: string[]): Promise<Tree> {
    const tree = await Tree.plant(strongroom);
    for (const path of paths) {
      await tree.folder(path);
      await tree.put(path, { NAME: path });
    }
    return tree;
  }
  const placesOf = (reply: Parameters<typeof importsOf>[0]) => importsOf(reply).map(([place]) => place);

  test('has an entry for each imported folder, with exactly the fields of the interface', async () => {
    const tree = await planted('/app', '/shared');
    await tree.folder('/empty', 'prod');
    await tree.link('/app', ['/shared']);
    await tree.link('/app', ['/empty'], 'prod');
    const reply = await tree.list({ secretPath: '/app', include_imports: true });
    expect(linesOf(reply)).toEqual([['/app', 'NAME', '/app']]);
    const [shared, empty] = reply.body.imports;
    expect(Object.keys(shared).sort()).toEqual(['environment', 'folderId', 'secretPath', 'secrets']);
    expect(shared).toMatchObject({ environment: 'dev', secretPath: '/shared', folderId: await tree.idOf('/shared') });
    expect(Object.keys(shared.secrets[0]).sort()).toEqual(FIELDS);
    expect(shared.secrets[0]).toMatchObject({ workspace: tree.project.id, secretKey: 'NAME', secretValue: '/shared' });
    expect(empty).toEqual({
      environment: 'prod',
      secretPath: '/empty',
      folderId: await tree.idOf('/empty', 'prod'),
      secrets: [],
    });
    expect((await tree.list({ secretPath: '/app' })).body.imports).toEqual([]);
  });

  test('has folders of any number of levels, nearest first, by position, each once', async () => {
    const tree = await planted('/app', '/one', '/two', '/three', '/four', '/deep');
    await tree.link('/app', ['/two', '/one']);
    await tree.link('/one', ['/three', '/two']);
    await tree.link('/two', ['/four', '/three']);
    await tree.link('/three', ['/deep']);
    const listed = () => tree.list({ secretPath: '/app', include_imports: true });
    // Of the second level, what /one imports comes before what /two does: by path of the importing folder.
    expect(placesOf(await listed())).toEqual(['dev:/two', 'dev:/one', 'dev:/three', 'dev:/four', 'dev:/deep']);
    await strongroom.sql('update secret_import set position = 3 - position where folder_id = $1', [
      await tree.idOf('/app'),
    ]);
    await tree.touch();
    expect(placesOf(await listed()).slice(0, 2)).toEqual(['dev:/one', 'dev:/two']);
  });

  test('cuts circles, and never has the base folder itself', async () => {
    const tree = await planted('/a', '/b', '/c');
    await tree.link('/a', ['/b']);
    await tree.link('/b', ['/c']);
    for (const source of ['/a', '/b']) await tree.force(await tree.idOf('/c'), await tree.idOf(source));
    for (const [secretPath, places] of [
      ['/a', ['dev:/b', 'dev:/c']],
      ['/b', ['dev:/c', 'dev:/a']],
    ] as const) {
      expect(placesOf(await tree.list({ secretPath, include_imports: true }))).toEqual(places);
    }
  });

  test('with recursive has what all listed folders import', async () => {
    const tree = await planted('/app', '/app/web', '/app/api', '/shared', '/base');
    await tree.link('/app/web', ['/shared', '/app/api']);
    await tree.link('/app/api', ['/base', '/shared']);
    await tree.force(await tree.idOf('/app/api'), await tree.idOf('/app'));
    const reply = await tree.list({ secretPath: '/app', include_imports: true, recursive: true });
    expect(linesOf(reply).map(([path]) => path)).toEqual(['/app', '/app/api', '/app/web']);
    expect(placesOf(reply)).toEqual(['dev:/base', 'dev:/shared', 'dev:/app/api']);
    expect(importsOf(reply)[2]).toEqual(['dev:/app/api', { NAME: '/app/api' }]);
  });

  test('applies filters and viewSecretValue to imported secrets as well', async () => {
    const tree = await planted('/app', '/shared');
    await tree.link('/app', ['/shared']);
    const { admin, project } = tree;
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: '#00aa00' })).body;
    const place = { projectId: project.id, environment: 'dev', secretPath: '/shared' };
    const secretMetadata = [{ key: 'team', value: 'core' }];
    await admin.post('/api/v4/secrets/TAGGED', { ...place, secretValue: 't', tagIds: [tag.id], secretMetadata });
    const at = { secretPath: '/app', include_imports: true };
    for (const filter of [{ tagSlugs: 'db' }, { metadataFilter: 'key=team,value=core' }]) {
      const reply = await tree.list({ ...at, ...filter });
      expect(linesOf(reply)).toEqual([]);
      expect(importsOf(reply)).toEqual([['dev:/shared', { TAGGED: 't' }]]);
    }
    const hidden = await tree.list({ ...at, viewSecretValue: false });
    expect(importsOf(hidden)).toEqual([['dev:/shared', { NAME: '<hidden>', TAGGED: '<hidden>' }]]);
  });

  test('is whole when its pages are put together: all imports come with the first', async () => {
    const tree = await planted('/app', '/shared');
    await tree.put('/app', { MORE: '2' });
    await tree.link('/app', ['/shared']);
    const at = { secretPath: '/app', include_imports: true, limit: 1 };
    const first = await tree.list(at);
    const second = await tree.list({ ...at, cursor: first.body.nextCursor });
    expect([...linesOf(first), ...linesOf(second)].map(([, key]) => key)).toEqual(['MORE', 'NAME']);
    expect(importsOf(first)).toEqual([['dev:/shared', { NAME: '/shared' }]]);
    expect(second.body).toMatchObject({ imports: [] });
    expect(second.body.nextCursor).toBeUndefined();
  });

  test('never leaves the project, whatever a row says', async () => {
    const tree = await planted('/app');
    const other = await planted('/stolen');
    await tree.force(await tree.idOf('/app'), await other.idOf('/stolen'));
    const reply = await tree.list({ secretPath: '/app', include_imports: true });
    expect(importsOf(reply)).toEqual([]);
    expect(await tree.get('NAME', { secretPath: '/', include_imports: true })).toBeError(404, 'SECRET_NOT_FOUND');
  });
});

describe('one secret with imports', () => {
  const strongroom = useSharedStrongroom();

  test('is the own one, else that of the last import, each with its own imports before the next', async () => {
    const tree = await Tree.plant(strongroom);
    for (const path of ['/app', '/first', '/last', '/below-last', '/far']) await tree.folder(path);
    await tree.link('/app', ['/first', '/last']);
    await tree.link('/last', ['/below-last']);
    await tree.link('/first', ['/far']);
    await tree.force(await tree.idOf('/first'), await tree.idOf('/app'));
    await tree.put('/app', { OWN: 'app' });
    await tree.put('/first', { OWN: 'first', BOTH: 'first', NESTED: 'first', FIRST: 'first' });
    await tree.put('/last', { OWN: 'last', BOTH: 'last' });
    await tree.put('/below-last', { NESTED: 'below-last', BOTH: 'below-last' });
    await tree.put('/far', { FAR: 'far' });
    const effective = async (key: string) => {
      const reply = await tree.get(key, { secretPath: '/app', include_imports: true });
      return reply.status === 200 ? [reply.body.secret.secretValue, reply.body.secret.secretPath] : reply.body.code;
    };
    expect(await effective('OWN')).toEqual(['app', '/app']);
    expect(await effective('BOTH')).toEqual(['last', '/last']);
    expect(await effective('NESTED')).toEqual(['below-last', '/below-last']);
    expect(await effective('FIRST')).toEqual(['first', '/first']);
    expect(await effective('FAR')).toEqual(['far', '/far']);
    expect(await effective('NONE')).toBe('SECRET_NOT_FOUND');
    expect(await tree.get('BOTH', { secretPath: '/app' })).toBeError(404, 'SECRET_NOT_FOUND');
    // A consumer of the list who takes the last entry that has the key gets the same, where nothing is nested.
    const { imports } = (await tree.list({ secretPath: '/app', include_imports: true })).body;
    expect(imports.slice(0, 2).map(({ secretPath }: { secretPath: string }) => secretPath)).toEqual([
      '/first',
      '/last',
    ]);
  });
});
