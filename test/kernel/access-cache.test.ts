import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { AccessCache } from '../../src/kernel/access-cache/access-cache.js';
import type { Query } from '../../src/kernel/database/database.js';

/** A look at a database that answers when it is told to. */
interface Look {
  readonly since: string | null;
  readonly projectIds: readonly string[];
  answer(changes: {
    snapshot: string;
    revisions?: Readonly<Record<string, number>>;
    isChanged?: boolean;
    server?: string;
    now?: number;
  }): void;
  fail(error?: Error): void;
}

function scene() {
  const looks: Look[] = [];
  const query: Query = (_, [since, projectIds] = []) =>
    new Promise((resolve, reject) => {
      const answer: Look['answer'] = (changes) =>
        resolve([{ isChanged: false, server: 'one', now: 1, revisions: null, ...changes }] as never[]);
      looks.push({
        since: since as string | null,
        projectIds: projectIds as string[],
        answer,
        fail: (error = new Error('lost')) => reject(error),
      });
    });
  const access = new AccessCache(query);
  let value = 0;
  const read = async () => {
    value += 1;
    return { value, until: 10, size: 0 };
  };
  const find = () => access.find('name', read);
  const look = async (at: number): Promise<Look> => {
    while (looks.length <= at) await turn();
    return looks[at] as Look;
  };
  /** Something is known, as of the first look. */
  const known = async () => {
    const found = find();
    (await look(0)).answer({ snapshot: '1' });
    await found;
  };
  return { access, looks, find, look, known };
}

describe('what is known', () => {
  test('is read once, and told after a look that begins after it was asked for', async () => {
    const { find, look, known } = scene();
    await known();
    const found = find();
    const { since, answer } = await look(1);
    expect(since).toBe('1');
    answer({ snapshot: '2' });
    expect(await found).toMatchObject({ value: 1, state: { now: 1 } });
  });

  test('is read anew after a change, a restart of the server, its end, and a look that failed', async () => {
    for (const changes of [{ isChanged: true }, { server: 'other' }, { now: 10 }]) {
      const { find, look, known } = scene();
      await known();
      const found = find();
      (await look(1)).answer({ snapshot: '2', ...changes });
      expect(await found).toMatchObject({ value: 2, state: null });
    }
    const { find, look, known } = scene();
    await known();
    const found = find();
    (await look(1)).fail();
    await expect(found).rejects.toThrow('lost');
    const next = find();
    (await look(2)).answer({ snapshot: '3' });
    expect(await next).toMatchObject({ value: 2, state: null });
  });

  test('is read by each of those whose look failed on the project of one of them, and stays known', async () => {
    const { access, find, look, known } = scene();
    await known();
    const readPoisoned = async () => {
      throw new Error('poisoned');
    };
    const [found, poisoned] = [find(), access.find('name', readPoisoned, 'poisoned')];
    (await look(1)).fail(Object.assign(new Error('division'), { code: '22012' }));
    await expect(poisoned).rejects.toThrow('poisoned');
    expect(await found).toMatchObject({ value: 2, state: null });
    const next = find();
    const { since, answer } = await look(2);
    expect(since).toBe('1');
    answer({ snapshot: '2' });
    expect(await next).toMatchObject({ value: 2, state: { now: 1 } });
  });

  test('is not kept when it was being read while something changed', async () => {
    const { access, find, look, known } = scene();
    await known();
    let end = (): void => undefined;
    const slow = access.find('slow', async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return { value: 'old', until: 10, size: 0 };
    });
    const found = find();
    (await look(1)).answer({ snapshot: '2', isChanged: true });
    await found;
    end();
    expect(await slow).toMatchObject({ value: 'old' });
    expect(await access.find('slow', async () => ({ value: 'new', until: 10, size: 0 }))).toMatchObject({
      value: 'new',
    });
  });

  test('is dropped by a first look that answers after a later one', async () => {
    const { access, find, look } = scene();
    const early = find();
    await look(0);
    // It takes so long that another look begins.
    const late = access.find('other', async () => ({ value: 'read', until: 10, size: 0 }));
    (await look(1)).answer({ snapshot: '1' });
    await late;
    // Its snapshot may be one that has a change from after what was read.
    (await look(0)).answer({ snapshot: '2' });
    await early;
    const found = access.find('other', async () => ({ value: 'anew', until: 10, size: 0 }));
    expect(await found).toMatchObject({ value: 'anew', state: null });
  });

  test('is looked at once for all who wait, and no more than twice at the same time', async () => {
    const { looks, find, look, known } = scene();
    await known();
    const first = Array.from({ length: 100 }, find);
    await look(1);
    const second = Array.from({ length: 100 }, find);
    await look(2);
    const third = Array.from({ length: 100 }, find);
    await delay(150);
    expect(looks).toHaveLength(3);
    looks[1]?.answer({ snapshot: '2' });
    (await look(3)).answer({ snapshot: '4' });
    looks[2]?.answer({ snapshot: '3' });
    const all = await Promise.all([...first, ...second, ...third]);
    expect(all).toHaveLength(300);
    expect(all.every(({ state }) => state !== null)).toBe(true);
    expect(looks).toHaveLength(4);
  });

  test('is right by a look as long as no other one finds a change', async () => {
    const { access, find, look, known } = scene();
    await known();
    const found = find();
    (await look(1)).answer({ snapshot: '2' });
    const { state } = await found;
    if (state === null) throw new Error('it was not known');
    expect(access.current('name', state)).toBe(1);
    expect(access.current('other', state)).toBeUndefined();
    expect(access.current('name', { ...state, now: 10 })).toBeUndefined();
    const again = find();
    (await look(2)).answer({ snapshot: '3', isChanged: true });
    await again;
    expect(access.current('name', state)).toBeUndefined();
  });

  test('is looked at with the project that is expected', async () => {
    const { access, find, look, known } = scene();
    await known();
    access.expect('name', 'a');
    access.expect('other', 'b');
    const found = find();
    const { projectIds, answer } = await look(1);
    expect(projectIds).toEqual(['a']);
    answer({ snapshot: '2', revisions: { a: 7 } });
    expect(await found).toMatchObject({ value: 1, state: { revisions: { a: 7 } } });
  });
});
