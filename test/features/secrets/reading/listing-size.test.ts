import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { importsOf, linesOf, Tree } from '../tree.js';

const FOLDERS = 60;
const DEPTH = 25;
const SECRETS = 500;
const ALL = { recursive: true, include_imports: true, expandSecretReferences: true };

/** Folder `n` of a tree: a spine that is 25 deep, and twigs along it. */
const pathOf = (n: number): string => {
  const spine = Array.from({ length: n < DEPTH ? n + 1 : (n % DEPTH) + 1 }, (_, level) => `s${level}`);
  return `/${[...spine, ...(n < DEPTH ? [] : [`t${n}`])].join('/')}`;
};
const depthOf = (path: string): number => path.split('/').length - 1;
const nameOf = (path: string, key: string): string => ['dev', ...path.slice(1).split('/'), key].join('.');

describe('a list of 500 secrets in 60 folders, 25 deep', () => {
  const strongroom = useSharedStrongroom({ REPLY_CACHE_MIB: '0' });
  let tree: Tree;
  /** Values by path and key, references not expanded. */
  const values = new Map<string, Map<string, string>>();

  const raw = (path: string, key: string): string => values.get(path)?.get(key) as string;
  const textOf = (at: number): string => {
    if (at % 3 !== 1) return `value-${at}`;
    const target = at + FOLDERS - 1;
    // Every third names the secret before it, which may be too deep to be listed, and another folder's, and one that is not there.
    const other = target >= SECRETS ? 'MISSING' : nameOf(pathOf(target % FOLDERS), `K${target}`);
    return `<\${${nameOf(pathOf((at - 1) % FOLDERS), `K${at - 1}`)}}\${${other}}>`;
  };
  const expanded = (value: string): string =>
    value.replace(/\$\{dev\.([\w.]+)\.(K\d+)\}/g, (_, path: string, key: string) =>
      expanded(raw(`/${path.replaceAll('.', '/')}`, key)),
    );

  beforeAll(async () => {
    tree = await Tree.plant(strongroom);
    for (let n = DEPTH - 1; n < FOLDERS; n += 1) await tree.folder(pathOf(n));
    for (let n = 0; n < FOLDERS; n += 1) {
      const own = new Map<string, string>();
      for (let at = n; at < SECRETS; at += FOLDERS) own.set(`K${at}`, textOf(at));
      values.set(pathOf(n), own);
      await tree.put(pathOf(n), Object.fromEntries(own));
    }
    await tree.folder('/outside', 'prod');
    await tree.put('/outside', { FAR: '${NEAR}', NEAR: 'near' }, 'prod');
    await tree.link(pathOf(30), [pathOf(24), pathOf(26)]);
    await tree.link(pathOf(30), ['/outside'], 'prod');
  });

  test('has exactly what is at most 20 below, with every reference expanded, in at most 8 statements', async () => {
    const { result, count } = await strongroom.statements(() => tree.list(ALL));
    const wanted = [...values]
      .filter(([path]) => depthOf(path) <= 20)
      .flatMap(([path, own]) => [...own].map(([key, value]) => [path, key, expanded(value)] as const))
      .sort(([pathA, keyA], [pathB, keyB]) => (`${pathA} ${keyA}` < `${pathB} ${keyB}` ? -1 : 1));
    const sorted = linesOf(result).sort(([pathA, keyA], [pathB, keyB]) =>
      `${pathA} ${keyA}` < `${pathB} ${keyB}` ? -1 : 1,
    );
    expect(sorted).toEqual(wanted);
    expect(result.headers['x-depth-truncated']).toBe('true');
    expect(importsOf(result).map(([place]) => place)).toEqual([
      `dev:${pathOf(24)}`,
      `dev:${pathOf(26)}`,
      'prod:/outside',
    ]);
    expect(importsOf(result)[2]?.[1]).toEqual({ FAR: 'near', NEAR: 'near' });
    expect(count).toBeLessThanOrEqual(8);
  });

  test('takes as many statements from any place in it, and fewer when all references stay inside', async () => {
    const { count } = await strongroom.statements(() => tree.list({ ...ALL, secretPath: pathOf(10) }));
    expect(count).toBeLessThanOrEqual(8);
    const plain = await strongroom.statements(() => tree.list({ recursive: true, include_imports: true }));
    // One for secrets elsewhere, and one for those that are missing.
    expect(plain.count).toBe(count - 2);
  });

  test('leaves one audit record, which tells what was asked for', async () => {
    const reply = mustSucceed(await tree.list(ALL));
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action }) => action)).toEqual(['secret:list']);
    expect(rows[0]?.facts).toMatchObject({
      count: linesOf(reply).length,
      recursive: true,
      imports: 3,
      expandedReferences: true,
      viewedValues: true,
      unreadable: 0,
    });
  });
});
