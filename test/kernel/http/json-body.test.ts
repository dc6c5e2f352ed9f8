import fc from 'fast-check';
import { AppError } from '../../../src/kernel/errors.js';
import { parseJsonBody } from '../../../src/kernel/http/json-body.js';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map((inner) => depthOf(inner)))
    : 0;

test('parseJsonBody answers what JSON.parse does, whatever stands in texts', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), fc.string(), (value, text) => {
      const bytes = Buffer.from(JSON.stringify({ value, [text]: `[[{{"\\${text}` }));
      expect(parseJsonBody(bytes)).toEqual(JSON.parse(bytes.toString('utf8')));
    }),
  );
});

test('parseJsonBody refuses exactly what is nested deeper than 100 levels', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 95, maxLength: 105 }), (kinds) => {
      const value = kinds.reduce<unknown>((inner, isArray) => (isArray ? [inner] : { '[': inner }), ']');
      const parse = () => parseJsonBody(Buffer.from(JSON.stringify(value)));
      if (depthOf(value) > 100) expect(parse).toThrow(AppError);
      else expect(parse()).toEqual(value);
    }),
  );
});

test('parseJsonBody throws nothing but MALFORMED_JSON', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      try {
        parseJsonBody(Buffer.from(bytes));
      } catch (error) {
        expect(error).toMatchObject({ code: 'MALFORMED_JSON' });
      }
    }),
  );
});
