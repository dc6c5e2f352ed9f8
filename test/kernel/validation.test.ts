import { z } from 'zod';
import { check } from '../../src/kernel/validation.js';

const messageFor = (rules: z.ZodType, input: unknown): string | undefined => check(rules, input).faults?.[0]?.message;

test('a bound is told in the right number', () => {
  expect(messageFor(z.string().min(1), '')).toBe('must have at least 1 character');
  expect(messageFor(z.string().min(5), '')).toBe('must have at least 5 characters');
  expect(messageFor(z.array(z.int()).max(1), [1, 2])).toBe('must have at most 1 entry');
  expect(messageFor(z.array(z.int()).max(2), [1, 2, 3])).toBe('must have at most 2 entries');
  expect(messageFor(z.int().min(1), 0)).toBe('must be at least 1');
});

test('of many violations no more are put into words than are reported', () => {
  let worded = 0;
  const error = (): string => {
    worded += 1;
    return 'must be short';
  };
  const { faults } = check(z.array(z.string({ error })), Array(5_000).fill(1));
  expect(faults).toHaveLength(1_001);
  expect(worded).toBe(1_001);
});
