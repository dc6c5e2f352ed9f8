import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, type GraphQLEnumType } from 'graphql';
import { PROJECT_ACTIONS } from '../../src/features/identity/permissions/actions.js';
import { enumName } from '../../src/kernel/names.js';
import { DETAIL_CODES, ERRORS } from '../kit/error-codes.js';
import { ROOT, sources } from './sources.js';

/** Machine words, of errors and of details: other tables of the house have no `code` in capitals. */
const CODE = /\bcode: '([A-Z][A-Z_]*)'/g;

const named = sources('src').flatMap(({ path, text }) =>
  [...text.matchAll(CODE)].map(([, code = '']) => ({ path, code })),
);

describe('codes of details', () => {
  test('are of the closed set, also those that rules name', () => {
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(({ code }) => !(code in DETAIL_CODES) && !(code in ERRORS))).toEqual([]);
  });

  test('are all in use, and clash with no code of an error and no verb', () => {
    const texts = sources('src')
      .filter(({ path }) => !path.endsWith('detail-codes.ts'))
      .map(({ text }) => text)
      .join('\n');
    expect(Object.keys(DETAIL_CODES).filter((code) => !texts.includes(`'${code}'`))).toEqual([]);
    expect(Object.keys(DETAIL_CODES).filter((code) => code in ERRORS)).toEqual([]);
    const verbs = Object.values(PROJECT_ACTIONS).flat();
    expect(verbs.flatMap((verb) => [verb, enumName(verb)]).filter((word) => word in DETAIL_CODES)).toEqual([]);
  });
});

describe('schema/schema.graphql', () => {
  const schema = buildSchema(readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8'));
  const valuesOf = (name: string): [string, string | null | undefined][] =>
    (schema.getType(name) as GraphQLEnumType).getValues().map((value) => [value.name, value.description]);

  test('lists every code of an error with its status and its message, and every code of details', () => {
    const errors = Object.entries(ERRORS).map(([code, { status, message }]) => [code, `${status}. ${message}`]);
    expect(valuesOf('ErrorCode')).toEqual(errors.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
    const details = Object.entries(DETAIL_CODES);
    expect(valuesOf('ErrorDetailCode')).toEqual(details.sort(([a], [b]) => (a < b ? -1 : 1)));
    expect(schema.description).toContain('ErrorCode');
  });
});
