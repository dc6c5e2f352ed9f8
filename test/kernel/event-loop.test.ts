import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { jest } from '@jest/globals';
import {
  filterYielding,
  mapYielding,
  nextTurn,
  noteConnection,
  runAndYield,
  whenTurnAllows,
  yieldToEventLoop,
} from '../../src/kernel/event-loop.js';
import { TurnCounter } from '../kit/turn-counter.js';

/** What the clock shows. It goes on by work alone, so that a machine that is busy makes no light work heavy. */
let now = 0;

/** Takes so much time, as heavy work does. */
function block(ms: number): void {
  now += ms;
}

beforeAll(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

afterAll(() => {
  jest.restoreAllMocks();
});

describe('slices of work', () => {
  /** How many waiters had gone on after each turn of the event loop. */
  async function turnsOf(work: () => void): Promise<{ order: string[]; perTurn: number[] }> {
    const order: string[] = [];
    const waiters = ['a', 'b', 'c'].map((name) =>
      nextTurn().then(() => {
        order.push(name);
        work();
      }),
    );
    const perTurn: number[] = [];
    while (order.length < 3) {
      await turnOfLoop();
      perTurn.push(order.length);
    }
    await Promise.all(waiters);
    return { order, perTurn };
  }

  test('with much to do go on one in each turn of the event loop', async () => {
    const { order, perTurn } = await turnsOf(() => block(3));
    expect(order).toEqual(['a', 'b', 'c']);
    expect(perTurn.map((count, index) => count - (perTurn[index - 1] ?? 0)).every((added) => added <= 1)).toBe(true);
  });

  test('with little to do go on together', async () => {
    const { order, perTurn } = await turnsOf(() => undefined);
    expect(order).toEqual(['a', 'b', 'c']);
    expect(perTurn.filter((count) => count > 0)).toEqual([3]);
  });

  /** How many turns of the event loop work takes, if a connection arrives in each of them. */
  async function turnsAmongArrivals(work: () => Promise<unknown>): Promise<number> {
    const counter = new TurnCounter(noteConnection);
    await turnOfLoop();
    const before = counter.turns;
    await work();
    counter.stop();
    return counter.turns - before;
  }

  test('are left to connections that arrive, but not for ever', async () => {
    const turns = await turnsAmongArrivals(nextTurn);
    expect(turns).toBeGreaterThan(20);
    expect(turns).toBeLessThan(50);
  });

  test('have a whole slice when it is their turn, though connections arrive without end', async () => {
    // Some thirty turns are left to arrivals before each slice. One slice for each item would take 1,500 or more.
    expect(await turnsAmongArrivals(() => mapYielding(Array(60), () => block(1)))).toBeLessThan(1_000);
  });

  test('keep the order and the number of items, and let others run between them', async () => {
    let fired = false;
    setImmediate(() => (fired = true));
    const firedBefore = await mapYielding([1, 2, 3, 4], (item) => {
      const isFired = fired;
      block(6);
      return [item, isFired];
    });
    expect(firedBefore.map(([item]) => item)).toEqual([1, 2, 3, 4]);
    expect(firedBefore[0]).toEqual([1, false]);
    expect(firedBefore[3]).toEqual([4, true]);
  });

  test('keep what fits of a list, in order, and let others run between its items', async () => {
    let fired = false;
    setImmediate(() => (fired = true));
    const firedBefore: boolean[] = [];
    const kept = await filterYielding([1, 2, 3, 4], (item) => {
      firedBefore.push(fired);
      block(6);
      return item % 2 === 0;
    });
    expect(kept).toEqual([2, 4]);
    expect([firedBefore[0], firedBefore[3]]).toEqual([false, true]);
  });

  test('of which many come together begin one in each turn', async () => {
    const counter = new TurnCounter();
    const turns = await Promise.all(
      Array.from({ length: 5 }, () =>
        whenTurnAllows(() => {
          block(12);
          return counter.turns;
        }),
      ),
    );
    counter.stop();
    expect(new Set(turns).size).toBe(5);
  });

  test('share one turn between all requests, so that two together take no longer than one', async () => {
    const turns: number[] = [];
    const counter = new TurnCounter();
    const work = (): void => {
      turns.push(counter.turns);
      block(12);
    };
    await Promise.all([mapYielding([1, 2], work), mapYielding([1, 2], work)]);
    counter.stop();
    // In the turn in which all began, no more than what shows how heavy they are.
    expect(turns.filter((at) => at === 0)).toHaveLength(2);
    expect(new Set(turns).size).toBe(3);
  });

  test('end behind heavy work that fails, too', async () => {
    let isNextTurn = false;
    setImmediate(() => (isNextTurn = true));
    const failed = runAndYield(() => {
      block(3);
      throw new Error('refused');
    });
    await expect(failed).rejects.toThrow('refused');
    expect(isNextTurn).toBe(true);
  });

  test('do not wait when they are light, whatever others do', async () => {
    const heavy = mapYielding([1, 2, 3], () => block(12));
    let isNextTurn = false;
    setImmediate(() => (isNextTurn = true));
    expect(await mapYielding([1, 2, 3], (item) => item)).toEqual([1, 2, 3]);
    expect(await runAndYield(() => 'light')).toBe('light');
    expect(isNextTurn).toBe(false);
    expect(await runAndYield(() => block(3))).toBeUndefined();
    expect(isNextTurn).toBe(true);
    await heavy;
  });

  test('do not wait while the turn is young', async () => {
    // What the tests before took of this turn is no matter here.
    await turnOfLoop();
    await turnOfLoop();
    let isNextTurn = false;
    setImmediate(() => (isNextTurn = true));
    await yieldToEventLoop();
    expect(isNextTurn).toBe(false);
  });
});
