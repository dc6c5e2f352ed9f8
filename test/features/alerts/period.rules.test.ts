import { ALERT_BEFORE, endOfPeriod } from '../../../src/features/alerts/period.rules.js';
import fc from '../../kit/properties.js';

const end = (now: string, alertBefore: string): string => endOfPeriod(new Date(now), alertBefore).toISOString();

const DAY_MS = 86_400_000;
const now = fc.date({ min: new Date('1970-01-01'), max: new Date('2200-12-31'), noInvalidDate: true });
const count = fc.integer({ min: 1, max: 9_999 });

describe('the end of a period', () => {
  test.each([
    ['2026-01-31T10:20:30.456Z', '1m', '2026-02-28T10:20:30.456Z'],
    ['2028-01-31T00:00:00.000Z', '1m', '2028-02-29T00:00:00.000Z'],
    ['2026-01-28T00:00:00.000Z', '1m', '2026-02-28T00:00:00.000Z'],
    ['2026-10-31T23:59:59.999Z', '13m', '2027-11-30T23:59:59.999Z'],
    ['2028-02-29T12:00:00.000Z', '1y', '2029-02-28T12:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', '4y', '2032-02-29T12:00:00.000Z'],
    ['2026-03-29T00:30:00.000Z', '1d', '2026-03-30T00:30:00.000Z'],
    ['2026-12-20T00:00:00.000Z', '2w', '2027-01-03T00:00:00.000Z'],
    ['2026-01-01T00:00:00.000Z', '9999y', '+012025-01-01T00:00:00.000Z'],
  ])('from %s for %s is %s', (from, alertBefore, expected) => {
    expect(end(from, alertBefore)).toBe(expected);
  });

  test('is so many days of 24 hours later', () => {
    fc.assert(
      fc.property(
        now,
        count,
        fc.constantFrom(
          ...([
            ['d', 1],
            ['w', 7],
          ] as const),
        ),
        (from, times, [unit, days]) => {
          expect(endOfPeriod(from, `${times}${unit}`).getTime()).toBe(from.getTime() + times * days * DAY_MS);
        },
      ),
    );
  });

  test('is so many months later, on the same day or the last one of a shorter month, at the same time of day', () => {
    fc.assert(
      fc.property(
        now,
        count,
        fc.constantFrom(
          ...([
            ['m', 1],
            ['y', 12],
          ] as const),
        ),
        (from, times, [unit, months]) => {
          const found = endOfPeriod(from, `${times}${unit}`);
          const monthOf = (date: Date): number => date.getUTCFullYear() * 12 + date.getUTCMonth();
          expect(monthOf(found) - monthOf(from)).toBe(times * months);
          expect(found.getTime() % DAY_MS).toBe(from.getTime() % DAY_MS);
          const isLast = new Date(found.getTime() + DAY_MS).getUTCDate() === 1;
          expect(found.getUTCDate() === from.getUTCDate() || (isLast && found.getUTCDate() < from.getUTCDate())).toBe(
            true,
          );
        },
      ),
    );
  });

  test('leaves the date that it is given', () => {
    const from = new Date('2026-01-31');
    endOfPeriod(from, '1m');
    expect(from.toISOString()).toBe('2026-01-31T00:00:00.000Z');
  });
});

test.each(['1d', '9999y', '30d', '12m', '2w'])('%s is a period', (text) => expect(text).toMatch(ALERT_BEFORE));
test.each(['', '0d', '01d', '10000d', '1x', ' 1d', '1d ', '1', 'd', '1.5d', '-1d', '1D', '1dd', '١d', '1d\n'])(
  '%j is none',
  (text) => expect(text).not.toMatch(ALERT_BEFORE),
);
