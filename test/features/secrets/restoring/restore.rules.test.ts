import { nameOf, namesClaimedTwice, planRestore } from '../../../../src/features/secrets/restoring/restore.rules.js';
import fc from '../../../kit/properties.js';

/** A secret of the model, anywhere in a project. */
interface Secret {
  readonly id: string;
  readonly path: string;
  readonly key: string;
  readonly content: number;
}

/** All secrets of a project by id. */
type State = ReadonlyMap<string, Secret>;

interface Step {
  readonly kind: 'create' | 'change' | 'rename' | 'move' | 'delete' | 'swap';
  readonly pick: number;
  readonly other: number;
  readonly path: string;
  readonly key: string;
  readonly content: number;
}

/** `/in` and what is below it is restored; `/out` is another folder. */
const inReach = ({ path }: { path: string }): boolean => path.startsWith('/in');

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('create', 'create', 'change', 'rename', 'move', 'delete', 'swap'),
  pick: fc.nat(20),
  other: fc.nat(20),
  path: fc.constantFrom('/in', '/in/below', '/out'),
  key: fc.constantFrom('A', 'B', 'C', 'D'),
  content: fc.nat(3),
});

const at = (state: State, index: number): Secret | undefined => [...state.values()][index % Math.max(1, state.size)];

const isFree = (state: State, name: { path: string; key: string }): boolean =>
  ![...state.values()].some((secret) => nameOf(secret) === nameOf(name));

/** The state after a step; the same when the step cannot be made. */
function after(state: State, { kind, pick, other, path, key, content }: Step, newId: string): State {
  const next = new Map(state);
  const secret = at(state, pick);
  const set = (changed: Secret): State => next.set(changed.id, changed);
  if (kind === 'create') return isFree(state, { path, key }) ? set({ id: newId, path, key, content }) : state;
  if (secret === undefined) return state;
  if (kind === 'delete') {
    next.delete(secret.id);
    return next;
  }
  if (kind === 'change') return set({ ...secret, content });
  if (kind === 'rename') return isFree(state, { path: secret.path, key }) ? set({ ...secret, key }) : state;
  if (kind === 'move') return isFree(state, { path, key: secret.key }) ? set({ ...secret, path }) : state;
  const swapped = at(state, other) as Secret;
  set({ ...secret, path: swapped.path, key: swapped.key });
  return secret.id === swapped.id ? state : set({ ...swapped, path: secret.path, key: secret.key });
}

function history(steps: readonly Step[]): State[] {
  const states: State[] = [new Map()];
  for (const [index, next] of steps.entries()) states.push(after(states.at(-1) as State, next, `s${index}`));
  return states;
}

/** The plan that makes the reach of `now` what it was in `past`. */
const planned = (now: State, past: State) =>
  planRestore(
    [...now.values()].filter(inReach),
    [...past.values()].filter(inReach).map((secret) => {
      const present = now.get(secret.id);
      return { ...secret, isElsewhere: present !== undefined && !inReach(present) };
    }),
    (present, old) => present.content === old.content,
  );

/** The plan carried out step by step, as statements do it: no name may be taken twice after any of them. */
function restored(now: State, past: State, round = 'r'): State {
  const plan = planned(now, past);
  const state = new Map(now);
  for (const { id } of plan.deletes) expect(state.delete(id)).toBe(true);
  for (const change of plan.changes) state.set(change.present.id, { ...change.past, id: change.present.id });
  expectNoNameTwice(state);
  for (const [index, create] of plan.creates.entries()) {
    const id = create.isCopy ? `${round}${index}` : create.past.id;
    expect(state.has(id)).toBe(false);
    state.set(id, { ...create.past, id });
  }
  expectNoNameTwice(state);
  return state;
}

const expectNoNameTwice = (state: State): void => expect(namesClaimedTwice([...state.values()])).toEqual([]);

const contents = (state: State, isWanted: (secret: Secret) => boolean) =>
  Object.fromEntries(
    [...state.values()]
      .filter(isWanted)
      .map((secret) => [nameOf(secret), secret.content] as const)
      .sort(),
  );

const EMPTY = { deletes: [], changes: [], creates: [] };
const runs = fc.array(step, { maxLength: 40 }).map(history);
const moments = runs.chain((states) =>
  fc.nat(states.length - 1).map((index) => ({ now: states.at(-1) as State, past: states[index] as State, states })),
);

describe('the plan of a restore', () => {
  test('makes what is in reach the same as it was, by name and content', () => {
    fc.assert(
      fc.property(moments, ({ now, past }) => {
        expect(contents(restored(now, past), inReach)).toEqual(contents(past, inReach));
      }),
    );
  });

  test('leaves alone what is out of reach', () => {
    const isOut = (secret: Secret): boolean => !inReach(secret);
    fc.assert(
      fc.property(moments, ({ now, past }) => {
        expect(contents(restored(now, past), isOut)).toEqual(contents(now, isOut));
      }),
    );
  });

  test('to now is empty', () => {
    fc.assert(
      fc.property(runs, (states) => {
        const now = states.at(-1) as State;
        expect(planned(now, now)).toEqual(EMPTY);
      }),
    );
  });

  test('made twice is empty the second time', () => {
    fc.assert(
      fc.property(moments, ({ now, past }) => {
        expect(planned(restored(now, past), past)).toEqual(EMPTY);
      }),
    );
  });

  test('to one moment after another is the same as to the last one alone', () => {
    fc.assert(
      fc.property(moments, fc.nat(), ({ now, past, states }, pick) => {
        const between = states[pick % states.length] as State;
        expect(contents(restored(restored(now, between), past, 'q'), inReach)).toEqual(contents(past, inReach));
      }),
    );
  });

  test('gives ids back: a secret that is gone or still in reach keeps its own', () => {
    fc.assert(
      fc.property(moments, ({ now, past }) => {
        const state = restored(now, past);
        for (const secret of past.values()) {
          const present = now.get(secret.id);
          if (inReach(secret) && (present === undefined || inReach(present)))
            expect(state.get(secret.id)).toMatchObject({ path: secret.path, key: secret.key });
        }
      }),
    );
  });

  const secret = (id: string, key: string, content = 1) => ({ id, path: '/in', key, content });
  const state = (...secrets: Secret[]): State => new Map(secrets.map((each) => [each.id, each]));

  test('of two keys that were swapped changes both, and makes and deletes nothing', () => {
    const plan = planned(state(secret('a', 'B'), secret('b', 'A')), state(secret('a', 'A'), secret('b', 'B')));
    expect(plan).toMatchObject({ deletes: [], creates: [] });
    expect(plan.changes.map(({ present, past }) => `${present.key}>${past.key}`)).toEqual(['B>A', 'A>B']);
  });

  test('takes back the id of a secret that was deleted and made again under the same key', () => {
    const plan = planned(state(secret('new', 'A')), state(secret('old', 'A')));
    expect(plan.deletes.map(({ id }) => id)).toEqual(['new']);
    expect(plan.creates).toMatchObject([{ past: { id: 'old' }, isCopy: false }]);
  });

  test('of a secret that was moved out makes a copy, once', () => {
    const moved = { ...secret('a', 'A'), path: '/out' };
    const plan = planned(state(moved), state(secret('a', 'A')));
    expect(plan).toMatchObject({ deletes: [], changes: [], creates: [{ past: { id: 'a' }, isCopy: true }] });
    const changed = planned(state(moved, secret('copy', 'A', 2)), state(secret('a', 'A')));
    expect(changed).toMatchObject({ deletes: [], changes: [{ present: { id: 'copy' } }], creates: [] });
  });

  test('cannot be made of a state in which two secrets have one name', () => {
    const names = [secret('a', 'A'), secret('b', 'A'), secret('c', 'A'), secret('d', 'B')];
    expect(namesClaimedTwice(names)).toEqual([names[0]]);
  });
});
