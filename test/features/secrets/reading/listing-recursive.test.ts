import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { linesOf, Tree } from '../tree.js';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `l${index + 1}`);

describe('the recursive list of secrets', () => {
  const strongroom = useSharedStrongroom();

  test('has the folders below, by path, then key', async () => {
    const tree = await Tree.plant(strongroom);
    for (const path of ['/b', '/a/c', '/a-b', '/ab']) await tree.folder(path);
    await tree.put('/', { Z: '1', A: '2' });
    await tree.put('/a/c', { X: '3' });
    await tree.put('/a-b', { X: '4' });
    await tree.put('/ab', { X: '5' });
    await tree.put('/b', { X: '6' });
    await tree.put('/', { PROD: '7' }, 'prod');
    const all = await tree.list({ recursive: true });
    expect(linesOf(all)).toEqual([
      ['/', 'A', '2'],
      ['/', 'Z', '1'],
      ['/a-b', 'X', '4'],
      ['/a/c', 'X', '3'],
      ['/ab', 'X', '5'],
      ['/b', 'X', '6'],
    ]);
    expect(all.headers['x-depth-truncated']).toBeUndefined();
    // A folder whose name starts like that of the base path is not below it.
    expect(linesOf(await tree.list({ recursive: true, secretPath: '/a/' }))).toEqual([['/a/c', 'X', '3']]);
    expect(linesOf(await tree.list({ recursive: true, secretPath: '/b' }))).toEqual([['/b', 'X', '6']]);
    expect(linesOf(await tree.list({ secretPath: '/a' }))).toEqual([]);
  });

  test('takes the base path and 20 levels below it, and says that there is more', async () => {
    const tree = await Tree.plant(strongroom);
    const deep = names(23);
    await tree.folder(`/${deep.join('/')}`);
    const at = (depth: number) => (depth === 0 ? '/' : `/${deep.slice(0, depth).join('/')}`);
    for (const depth of [0, 2, 20, 21, 22, 23]) await tree.put(at(depth), { DEPTH: String(depth) });
    const depthsFrom = async (base: number) => {
      const reply = await tree.list({ recursive: true, secretPath: at(base) });
      return [linesOf(reply).map(([, , value]) => Number(value)), reply.headers['x-depth-truncated']];
    };
    expect(await depthsFrom(0)).toEqual([[0, 2, 20], 'true']);
    expect(await depthsFrom(2)).toEqual([[2, 20, 21, 22], 'true']);
    expect(await depthsFrom(3)).toEqual([[20, 21, 22, 23], undefined]);
    const document = `query ($p: ID!, $at: String!) {
      secrets(projectId: $p, environment: "dev", secretPath: $at, recursive: true) { isDepthTruncated nodes { secretValue } }
      project(id: $p) { environments { secrets(path: $at, recursive: true) { nodes { secretValue } } } }
    }`;
    const { secrets, project } = await tree.admin.data(document, { p: tree.project.id, at: at(2) });
    expect(secrets.isDepthTruncated).toBe(true);
    expect(project.environments[0].secrets.nodes).toEqual(secrets.nodes);
    expect(project.environments[1].secrets.nodes).toEqual([]);
  });

  test('pages through the same order, across folders', async () => {
    const tree = await Tree.plant(strongroom);
    for (const path of ['/a', '/a/b', '/c']) {
      await tree.folder(path);
      await tree.put(path, { K1: path, K2: path, K3: path });
    }
    const whole = linesOf(await tree.list({ recursive: true }));
    expect(whole).toHaveLength(9);
    for (const limit of [1, 2, 4, 9]) {
      const paged = [];
      let cursor: string | undefined;
      do {
        const page = await tree.list({ recursive: true, limit, ...(cursor === undefined ? {} : { cursor }) });
        expect(linesOf(page).length).toBeLessThanOrEqual(limit);
        paged.push(...linesOf(page));
        cursor = page.body.nextCursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole);
    }
  });

  test('is not found for an unknown environment or path, and empty where there is nothing', async () => {
    const tree = await Tree.plant(strongroom);
    expect((await tree.list({ recursive: true, include_imports: true })).body).toEqual({ secrets: [], imports: [] });
    for (const more of [{ recursive: true }, { include_imports: true }]) {
      expect(await tree.list({ ...more, environment: 'nope' })).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
      expect(await tree.list({ ...more, secretPath: '/nope' })).toBeError(404, 'FOLDER_NOT_FOUND');
    }
  });
});
