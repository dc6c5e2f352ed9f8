import { callersNetwork } from '../../src/kernel/addresses.js';
import { limitHeaders } from '../../src/kernel/operations/limits/rate-limits.js';
import { SLOTS, SlidingCount } from '../../src/kernel/operations/limits/sliding-count.js';
import fc from '../kit/properties.js';

const SLOT_MS = 5_000;
const WINDOW_MS = SLOTS * SLOT_MS;
const QUOTA = 20;
const BEGIN = 1_800_000_000_123;

/** Pauses between requests: none, a few, or longer than a window. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9_000 }), fc.constant(WINDOW_MS + 1)), {
  maxLength: 200,
});

describe('a sliding count', () => {
  test('never lets more pass in eleven parts than the limit', () => {
    fc.assert(
      fc.property(pauses, (steps) => {
        const count = new SlidingCount(SLOT_MS);
        const passed: number[] = [];
        let now = BEGIN;
        for (const pause of steps) {
          now += pause;
          if (count.used(now) >= QUOTA) continue;
          count.take(now, 1);
          passed.push(now);
        }
        for (const from of passed)
          expect(passed.filter((at) => at >= from && at <= from + WINDOW_MS - SLOT_MS).length).toBeLessThanOrEqual(
            QUOTA,
          );
      }),
    );
  });

  test('lets the limit pass in every window of steady demand beyond it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: WINDOW_MS }), fc.integer({ min: 2, max: 10 }), (phase, times) => {
        const count = new SlidingCount(SLOT_MS);
        const passed: number[] = [];
        const begin = BEGIN + phase;
        for (let now = begin; now < begin + 5 * WINDOW_MS; now += WINDOW_MS / (times * QUOTA)) {
          if (count.used(now) >= QUOTA) continue;
          count.take(now, 1);
          passed.push(now);
        }
        for (let window = 0; window < 5; window += 1) {
          const from = begin + window * WINDOW_MS;
          const inWindow = passed.filter((at) => at >= from && at < from + WINDOW_MS).length;
          expect(inWindow).toBeGreaterThanOrEqual(0.9 * QUOTA);
          expect(inWindow).toBeLessThanOrEqual(1.4 * QUOTA);
        }
        expect(passed.length).toBeLessThanOrEqual(5.5 * QUOTA);
      }),
    );
  });

  test('says truly how long to wait, and not a part longer', () => {
    fc.assert(
      fc.property(pauses, fc.integer({ min: 1, max: QUOTA }), (steps, amount) => {
        const count = new SlidingCount(SLOT_MS);
        let now = BEGIN;
        for (const pause of steps) {
          now += pause;
          if (count.used(now) < QUOTA) count.take(now, 1);
        }
        const wait = count.waitMs(now, QUOTA, amount);
        const isShort = count.used(now) + amount > QUOTA;
        if (count.used(now) === 0) expect(wait).toBe(0);
        if (!isShort) return;
        expect(count.used(now + wait - 1) + amount).toBeGreaterThan(QUOTA);
        expect(count.used(now + wait) + amount).toBeLessThanOrEqual(QUOTA);
      }),
    );
  });

  test('waits for an empty window where more is asked for than ever passes', () => {
    const count = new SlidingCount(SLOT_MS);
    count.take(BEGIN, 3);

    expect(count.used(BEGIN + count.waitMs(BEGIN, QUOTA, QUOTA + 1))).toBe(0);
  });

  test('counts what is given back no more, sent or not', () => {
    const count = new SlidingCount(SLOT_MS);
    const slot = count.take(BEGIN, 1);
    const [sent] = count.send(BEGIN);
    count.giveBack(slot, 1);
    expect(count.used(BEGIN)).toBe(0);
    count.settle(BEGIN, new Map([sent as [number, number]]));
    expect([count.used(BEGIN), count.unsent]).toEqual([0, 1]);
    expect(count.send(BEGIN)).toEqual([[slot, -1]]);
  });

  test('of several nodes, which take, fail to tell and tell in any order, agrees with their sum once all have told', () => {
    const node = fc.integer({ min: 0, max: 2 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant('take' as const), node, amount: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constantFrom('tell' as const, 'fail' as const), node, amount: fc.constant(0) }),
      fc.record({ kind: fc.constant('wait' as const), pause: fc.integer({ min: 0, max: 2_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const table = new Map<number, number>();
        const nodes = [0, 1, 2].map(() => new SlidingCount(SLOT_MS));
        const taken: { slot: number; amount: number }[] = [];
        let now = BEGIN;
        const report = (count: SlidingCount | undefined): void => {
          for (const [slot, amount] of count?.send(now) ?? []) table.set(slot, (table.get(slot) ?? 0) + amount);
          count?.settle(now, new Map(table));
        };
        for (const each of steps) {
          if (each.kind === 'wait') now += each.pause;
          else if (each.kind === 'tell') report(nodes[each.node]);
          else if (each.kind === 'fail') {
            nodes[each.node]?.send(now);
            nodes[each.node]?.settle(now, null);
          } else taken.push({ slot: nodes[each.node]?.take(now, each.amount) ?? 0, amount: each.amount });
        }
        for (const count of [...nodes, ...nodes]) report(count);
        const oldest = Math.floor(now / SLOT_MS) - SLOTS + 1;
        const sum = taken.filter(({ slot }) => slot >= oldest).reduce((total, { amount }) => total + amount, 0);
        expect(nodes.map((count) => count.used(now))).toEqual([sum, sum, sum]);
      }),
    );
  });
});

describe('the headers of limits', () => {
  const state = { name: 'reads', quota: 600, windowSeconds: 60, remaining: 599, resetSeconds: 56 } as const;

  test('tell of no limit nothing, of one all', () => {
    expect(limitHeaders([])).toEqual({});
    expect(limitHeaders([state])).toEqual({
      'ratelimit-policy': '"reads";q=600;w=60',
      ratelimit: '"reads";r=599;t=56',
      'ratelimit-limit': '600',
      'ratelimit-remaining': '599',
      'ratelimit-reset': '56',
    });
  });

  test('tell of several the one of which the least is left', () => {
    const mints = { name: 'mints', quota: 60, windowSeconds: 60, remaining: 3, resetSeconds: 7 } as const;
    expect(limitHeaders([state, mints])).toEqual({
      'ratelimit-policy': '"reads";q=600;w=60, "mints";q=60;w=60',
      ratelimit: '"reads";r=599;t=56, "mints";r=3;t=7',
      'ratelimit-limit': '60',
      'ratelimit-remaining': '3',
      'ratelimit-reset': '7',
    });
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('the caller at %s is %s', (address, network) => expect(callersNetwork(address)).toBe(network));
