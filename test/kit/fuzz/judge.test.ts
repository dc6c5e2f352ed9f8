import type { Reply } from '../caller.js';
import { faultOfGraphQL, faultOfRest } from './judge.js';

const reply = (status: number, body: unknown): Reply => ({
  status,
  body,
  headers: {},
  text: JSON.stringify(body),
});
const error = { reqId: crypto.randomUUID(), statusCode: 404, error: 'NotFound', code: 'TAG_NOT_FOUND', message: 'No.' };
const TAG = '/api/v1/projects/{projectId}/tags/{tagId}';
const judge = (status: number, body: unknown) => faultOfRest('GET', TAG, reply(status, body));

describe('the judge of answers', () => {
  test('accepts what is documented', () => {
    expect(judge(404, error)).toBeNull();
    expect(faultOfRest('GET', TAG, { ...reply(304, null), text: '' })).toBeNull();
    expect(faultOfRest('GET', TAG, reply(503, { ...error, statusCode: 503, code: 'STORE_UNAVAILABLE' }))).toBeNull();
  });

  test.each([
    ['an empty success', 200, {}],
    ['a success without its fields', 200, { tag: { id: 'x' } }],
    ['an error without a code', 404, { ...error, code: undefined }],
    ['an error with a field too many', 404, { ...error, stack: 'at' }],
    ['an unnamed failure', 500, { ...error, statusCode: 500, code: 'INTERNAL' }],
    ['a status that the operation does not have', 418, error],
    ['something else than JSON', 404, null],
  ])('refuses %s', (_, status, body) => {
    expect(judge(status, body)).toEqual(expect.any(String));
  });

  test('refuses GraphQL errors without a code, and failures of ours', () => {
    const extensions = { code: 'TAG_NOT_FOUND', statusCode: 404, reqId: 'x' };
    const answer = (changed: object) => reply(200, { data: null, errors: [{ message: 'No.', extensions: changed }] });
    expect(faultOfGraphQL(answer(extensions))).toBeNull();
    expect(faultOfGraphQL(answer({ ...extensions, code: 'BAD_USER_INPUT' }))).toMatch(/uncoded/);
    expect(faultOfGraphQL(answer({ ...extensions, code: 'INTERNAL', statusCode: 500 }))).toMatch(/INTERNAL/);
    expect(faultOfGraphQL(reply(200, null))).toMatch(/no JSON/);
  });
});
