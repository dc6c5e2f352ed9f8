import { Caller } from './caller.ts';
import { propertySeed } from './property-seed.ts';
import type { OtherNode, SharedNodes } from './strongroom.ts';

/** `npm test` runs a part of each cross product, and leaves out what takes long; every other run does all. */
const isQuick = process.env.TEST_SCOPE === 'quick';
/** Whether all is tried, for what is set up before. */
export const isAll = !isQuick;

/** A test, or a group of them, that only `npm run test:all` runs: of several nodes, of many rounds, of long waits. */
export const testInAll = isQuick ? test.skip : test;
export const describeInAll = isQuick ? describe.skip : describe;

/**
 * All items; in `npm test` each `step`th of them, the first of which the seed of the run decides.
 *
 * @param offset another number for another sample of the same items
 */
export const sample = <T>(items: readonly T[], step: number, offset = 0): readonly T[] =>
  isQuick ? items.filter((_, index) => (index + propertySeed + offset) % step === 0) : items;

/** How many rounds of the same, or runs of a property, are enough: a fifth of them in `npm test`. */
export const rounds = (count: number): number => (isQuick ? Math.ceil(count / 5) : count);

/**
 * A further node of the same installation, for tests of what holds at one node and at two. In `npm test` it is the same node: there
 * they hold it of one.
 */
export const otherNodeInAll = async (strongroom: SharedNodes): Promise<OtherNode> => {
  const { url } = strongroom;
  return isQuick ? { url, caller: (token) => new Caller(url, token) } : strongroom.otherNode();
};
