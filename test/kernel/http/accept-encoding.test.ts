import { ENCODINGS, preferredEncoding } from '../../../src/kernel/http/content-negotiation.js';
import fc from '../../kit/properties.js';

const weight = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
const weights = fc.record({ br: weight, gzip: weight, identity: weight });

test('preferredEncoding takes what has the most weight, whatever the order and the blanks', () => {
  const entry = (name: string, q: number, blank: string) => `${blank}${name}${blank};${blank}q=${q}${blank}`;
  fc.assert(
    fc.property(weights, fc.constantFrom('', ' ', '\t'), fc.boolean(), (wanted, blank, isReversed) => {
      const entries = Object.entries(wanted).map(([name, q]) => entry(name, q, blank));
      const header = (isReversed ? entries.reverse() : entries).join(',');
      const best = Math.max(wanted.br, wanted.gzip);
      const { encoding, isNeeded } = preferredEncoding(header);

      if (best === 0 || wanted.identity > best) expect(encoding).toBeNull();
      else expect(encoding).toBe(wanted.br === best ? 'br' : 'gzip');
      expect(isNeeded).toBe(encoding !== null && wanted.identity === 0);
    }),
  );
});

test('preferredEncoding answers a coding of ours or none for any text', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      expect([null, ...ENCODINGS]).toContain(preferredEncoding(header).encoding);
    }),
  );
});

test('nobody who says nothing gets a coding', () => {
  expect(preferredEncoding(undefined)).toEqual({ encoding: null, isNeeded: false });
});
