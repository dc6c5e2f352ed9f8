import { z } from 'zod';
import { checkHarmless, prefersStrict, withoutHarmless } from '../../src/rest/harmless-fields.js';
import fc from '../kit/properties.js';

const rules = z.strictObject({ label: z.string().optional(), projectId: z.string().optional() });
const params = { boxId: 'B1', projectId: 'p' };
const stripped = (body: unknown, harmless = {}) => withoutHarmless(body, { rules, harmless, params });
const paths = (body: unknown, harmless = {}) => stripped(body, harmless).violations.map(({ path }) => path);

describe('a harmless field', () => {
  test('is taken out and named, whatever it holds', () => {
    expect(stripped({ label: 'l', App: { any: 1 } }, { App: null })).toEqual({
      body: { label: 'l' },
      violations: [],
      ignored: 'App',
    });
  });

  test('that repeats the path under another name must equal it, but for the case of an ID', () => {
    const harmless = { ID: 'boxId' };
    expect(stripped({ ID: 'B1' }, harmless)).toEqual({ body: {}, violations: [], ignored: 'ID' });
    // The key of another secret, for one.
    expect(paths({ ID: 'b1' }, harmless)).toEqual(['body.ID']);
    const id = '6f1e3f4a-1c52-4d0b-9d3e-0a6c5a8f7b21';
    const sent = { ID: id.toUpperCase() };
    expect(withoutHarmless(sent, { rules, harmless, params: { boxId: id } }).violations).toEqual([]);
    expect(stripped({ ID: 'b2' }, harmless)).toMatchObject({
      body: {},
      violations: [{ path: 'body.ID', code: 'INVALID', message: 'must be the same as in the path, or absent' }],
    });
    for (const ID of [null, 1, ['B1', 2], {}]) expect(paths({ ID }, harmless)).toEqual(['body.ID']);
  });

  test('is any parameter of the path under its own name, unless the rules know a field of that name', () => {
    expect(stripped({ boxId: 'B1', label: 'l' })).toEqual({ body: { label: 'l' }, violations: [], ignored: 'boxId' });
    expect(paths({ boxId: 'other' })).toEqual(['body.boxId']);
    const body = { projectId: 'other' };
    expect(stripped(body)).toEqual({ body, violations: [], ignored: null });
  });
});

test('a harmless field of the items of a list is taken out of each, and named once', () => {
  const body = { items: [{ id: 1, at: 'x' }, { at: null }, 'at', null], at: 1 };
  const strippedBody = stripped(body, { 'items[].at': null, 'others[].at': null });
  expect(strippedBody).toEqual({ body: { items: [{ id: 1 }, {}, 'at', null], at: 1 }, violations: [], ignored: 'at' });
  expect(stripped({ items: 'at' }, { 'items[].at': null })).toMatchObject({ body: { items: 'at' }, ignored: null });
});

test('any other field stays, for the rules to refuse it: at every depth, and those of JavaScript', () => {
  for (const text of [
    '{"app":1,"__proto__":{"label":"x"},"constructor":{},"toString":1}',
    '{"label":{"App":1}}',
    '[{"App":1}]',
    'null',
    '"App"',
  ]) {
    const body = JSON.parse(text);
    expect(stripped(body, { App: null })).toEqual({ body, violations: [], ignored: null });
  }
});

test('what is named fits a header field, whatever the keys are', () => {
  const keys = fc.dictionary(fc.string({ unit: 'binary', maxLength: 60 }), fc.constant(1), { maxKeys: 20 });
  fc.assert(
    fc.property(keys, (body) => {
      expect(
        stripped({ ...body, App: 1, ID: 'B1' }, { App: null, ID: 'boxId' })
          .ignored?.split(', ')
          .sort(),
      ).toEqual(['App', 'ID', ...Object.keys(body).filter((name) => name === 'boxId')].sort());
    }),
  );
});

describe('a declaration', () => {
  const check = (harmless: Record<string, string | null>) => () => checkHarmless('/boxes/{boxId}', rules, harmless);

  test('names fields that the rules do not know, and parameters that the path has', () => {
    expect(check({ App: null, ID: 'boxId' })).not.toThrow();
    expect(check({ label: null })).toThrow('its rules know the harmless field label');
    expect(check({ ID: 'crateId' })).toThrow('the harmless field ID repeats no parameter of the path');
    expect(check({ 'a, b': null })).toThrow('is no name');
  });
});

describe('strict handling', () => {
  test.each([
    'handling=strict',
    'Handling=Strict',
    'handling="strict"',
    'handling = strict',
    'respond-async, wait=10, handling=strict',
    'return=minimal; foo="a", handling=strict; why="x"',
    'handling=strict, handling=lenient',
  ])('is preferred by %s', (header) => {
    expect(prefersStrict(header)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'handling',
    'handling=lenient',
    'handling=lenient, handling=strict',
    'x-handling=strict',
    'foo="handling=strict"',
    'foo; handling=strict',
    'handling=strictly',
    '"handling=strict"',
  ])('is not preferred by %s', (header) => {
    expect(prefersStrict(header)).toBe(false);
  });
});
