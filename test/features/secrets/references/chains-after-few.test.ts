import { useStrongroom } from '../../../kit/strongroom.js';
import { Tree } from '../tree.js';

/** So long that to look through all secrets at each link takes longer than a statement may. */
const LINKS = 5_000;

describe('a chain of references in a database whose plans were made when it had few secrets', () => {
  const strongroom = useStrongroom({ RATE_LIMIT: 'off' });

  test('is followed by the indexes all the same', async () => {
    for (const table of ['secret', 'secret_reference'])
      await strongroom.sql(`alter table ${table} set (autovacuum_enabled = off)`);
    const tree = await Tree.plant(strongroom);
    await tree.folder('/web');
    // A plan for these many names costs so much that one for any number, made once and kept, looks cheaper.
    const missing = Array.from({ length: 300 }, (_, index) => `\${MISSING_${index}}`).join('');
    await tree.put('/web', { FIRST: `\${SECOND}${missing}`, SECOND: 'second' });
    await strongroom.sql('analyze');
    const head = async (key: string) =>
      (await tree.get(key, { expandSecretReferences: true, secretPath: '/web' }, tree.admin.patient)).body.secret
        ?.secretValue;
    // Postgres keeps a plan for all parameters after five executions on a connection.
    for (let time = 0; time < 10; time += 1) {
      await tree.touch();
      expect(await head('FIRST')).toMatch(/^second/);
    }
    for (let at = 0; at < LINKS; at += 500) {
      const links = Array.from({ length: 500 }, (_, index) => at + index);
      await tree.put(
        '/web',
        Object.fromEntries(links.map((link) => [`K${link}`, link === LINKS - 1 ? 'end' : `\${K${link + 1}}`])),
      );
    }
    expect(await head('K0')).toBe('end');
  });
});
