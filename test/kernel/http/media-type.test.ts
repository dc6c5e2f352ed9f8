import { isJsonMediaType } from '../../../src/kernel/http/bodies/bodies.js';
import fc from '../../kit/properties.js';

const token = fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,8}$/);
const blank = fc.constantFrom('', ' ', '\t', ' \t ');
const text = fc.stringMatching(/^[a-z;, =/]{0,10}$/);
const parameter = fc
  .tuple(
    token,
    fc.oneof(
      token,
      text.map((value) => `"${value}"`),
    ),
  )
  .filter(([name]) => name !== 'charset');

test('isJsonMediaType takes JSON with any parameters', () => {
  fc.assert(
    fc.property(fc.array(parameter), blank, (parameters, space) => {
      const header = ['application/json', ...parameters.map(([name, value]) => `${name}=${value}`)];
      expect(isJsonMediaType(header.join(`${space};${space}`))).toBe(true);
      expect(isJsonMediaType([...header, 'charset=utf-8'].join(`${space};${space}`))).toBe(true);
      expect(isJsonMediaType([...header, 'charset=utf-16'].join(`${space};${space}`))).toBe(false);
    }),
  );
});

test('isJsonMediaType takes nothing that only begins like JSON', () => {
  const beginning = fc.constantFrom('application/json', 'application/json ', 'application/json\t');
  fc.assert(
    fc.property(beginning, fc.string({ minLength: 1 }), (start, rest) => {
      fc.pre(!/^[ \t]*(;|$)/.test(rest));
      expect(isJsonMediaType(start + rest)).toBe(false);
    }),
  );
});

test('isJsonMediaType reads the longest header in no time', () => {
  for (const part of [';', '; ', ';a="', '\\"', 'a', ';a=b', ' ', '\t;']) {
    expect(typeof isJsonMediaType(`application/json${part.repeat(16_000)}x`)).toBe('boolean');
  }
});
