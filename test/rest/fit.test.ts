import { z } from 'zod';
import { compileRoutes } from '../../src/rest/compile.js';
import type { Route } from '../../src/rest/route.js';
import { createBox, getBox, getByNickname, schemaOf } from './boxes.js';

describe('a route that does not fit is refused at start, by name', () => {
  const refuse = (changes: object, others: readonly Route[] = []) =>
    expect(() => compileRoutes(schemaOf([]), [{ ...getBox, ...changes } as Route, ...others]));

  test.each<[string, object]>([
    ['a document that does not parse', { document: 'query {' }],
    ['a field that the schema does not have', { document: 'query ($id: ID!) { box(id: $id) { nope } }' }],
    ['two operations', { document: 'query A($id: ID!) { box(id: $id) { id } } query B { __typename }' }],
    ['a path parameter that is not used', { variables: () => ({ id: 'fixed' }) }],
    [
      'a path parameter that does not exist',
      { variables: ({ params }: { params: Record<string, string> }) => ({ id: `${params.boxId}${params.other}` }) },
    ],
    [
      'a variable that the document does not have',
      { variables: ({ params }: { params: { boxId: string } }) => ({ id: params.boxId, other: 1 }) },
    ],
    [
      'a variable that is needed and never given',
      { variables: ({ params }: { params: { boxId: string } }) => (params.boxId ? {} : {}) },
    ],
    ['a reply that takes apart what is not there', { reply: (data: { nope: { x: 1 } }) => data.nope.x }],
    ['neither a number nor an extension', { operation: undefined }],
    ['to be kept, and about no project', { cached: true }],
  ])('%s', (_, changes) => {
    refuse(changes).toThrow(/^GET \/api\/v1\/boxes\/\{boxId\}: /);
  });

  test.each<[string, object]>([
    ['whose lookup asks for what is not there', { document: 'query ($id: ID!) { box(id: $id) { nope } }' }],
    ['whose lookup gives a variable that its document does not have', { variables: () => ({ id: 'x', other: 1 }) }],
    ['whose lookup lacks a variable', { variables: () => ({}) }],
  ])('%s', (_, changes) => {
    const lookup = { ...getByNickname.lookup, ...changes };
    const misfit = { ...getByNickname, lookup } as unknown as Route;
    expect(() => compileRoutes(schemaOf([]), [misfit])).toThrow(/^GET \/api\/v1\/crates: /);
  });

  test('the same method and path twice, whatever the parameter is called', () => {
    const twin = {
      ...getBox,
      operation: 3,
      path: '/api/v1/boxes/{id}',
      variables: ({ params }: { params: { id: string } }) => ({ id: params.id }),
    };
    refuse({}, [twin as unknown as Route]).toThrow(/boxes/);
  });

  test('the same number twice', () => {
    refuse({}, [{ ...getBox, path: '/api/v1/crates/{boxId}' } as Route]).toThrow(/operation/);
  });

  test('rules that let unknown keys pass', () => {
    const lax = { ...createBox, body: z.object({ label: z.string() }) } as unknown as Route;
    expect(() => compileRoutes(schemaOf([]), [lax])).toThrow(/^POST \/api\/v1\/boxes: /);
  });
});
