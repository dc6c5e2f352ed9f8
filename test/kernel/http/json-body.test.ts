import { AppError } from '../../../src/kernel/errors.js';
import { countEntries, parseJson } from '../../../src/kernel/http/bodies/json-body.js';
import fc from '../../kit/properties.js';

/** As the service reads a body. */
const parseJsonBody = (bytes: Buffer): unknown => {
  countEntries(bytes, 10_000);
  return parseJson(bytes);
};

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

test('parseJsonBody refuses exactly what is nested deeper than 64 levels', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 59, maxLength: 69 }), (kinds) => {
      const value = kinds.reduce<unknown>((inner, isArray) => (isArray ? [inner] : { '[': inner }), ']');
      const parse = () => parseJsonBody(Buffer.from(JSON.stringify(value)));
      if (depthOf(value) > 64) expect(parse).toThrow(AppError);
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
