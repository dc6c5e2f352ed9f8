import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const MIB = 1024 * 1024;
const BOM = '\ufeff';

let made = 0;
const slug = (): string => {
  made += 1;
  return `body-${made}`;
};
const makeProject = (rawBody: string | Buffer) =>
  strongroom.admin.request({ method: 'POST', path: '/api/v2/workspace', rawBody });
const project = (more = ''): string => `{"projectName":"Shop","slug":"${slug()}"${more}}`;
const nested = (depth: number, [open, close]: readonly [string, string]): string =>
  open.repeat(depth) + close.repeat(depth);
const inVariables = (value: string): string =>
  `{"query":"query ($first: Int) { projects(first: $first) { __typename } }","variables":{"first":${value}}}`;

describe('a body', () => {
  test('may begin with a byte order mark, and not with two', async () => {
    expect((await makeProject(BOM + project())).status).toBe(200);
    expect(await makeProject(BOM + BOM + project())).toBeError(400, 'MALFORMED_JSON');
  });

  test.each([
    ['an overlong character', [0xc0, 0xaf]],
    ['half a character', [0xe2, 0x82]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['Latin-1', [0xe9]],
  ])('of no UTF-8, with %s, is malformed', async (_, bytes) => {
    const [before, after] = ['{"projectName":"Sh', 'op"}'].map((text) => Buffer.from(text)) as [Buffer, Buffer];
    expect(await makeProject(Buffer.concat([before, Buffer.from(bytes), after]))).toBeError(400, 'MALFORMED_JSON');
  });

  test('of UTF-16 is malformed', async () => {
    expect(await makeProject(Buffer.from(project(), 'utf16le'))).toBeError(400, 'MALFORMED_JSON');
  });

  test('that has a key twice means the last one, also for the rules', async () => {
    const reply = await makeProject(project(',"projectName":"Second"'));
    expect(reply.body.project.name).toBe('Second');
    expect(await makeProject(project(',"projectName":1'))).toBeError(422, 'VALIDATION_FAILED');
  });

  test.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', '\\u005f_proto__'])(
    'with the key %s has an unknown key like any other, which is refused',
    async (key) => {
      const refused = await makeProject(project(`,"${key}":{"hasDeleteProtection":true}`));
      expect(refused).toBeError(422, 'VALIDATION_FAILED');
      expect(refused.body.details).toMatchObject([{ message: `unknown field \`${JSON.parse(`"${key}"`)}\`` }]);
      const later = await makeProject(project());
      expect(later.body.project.hasDeleteProtection).toBe(false);
    },
  );

  test.each(['null', '[]', '"text"', '1', 'true'])('that is %s is no object of the rules', async (text) => {
    expect(await makeProject(text)).toBeError(422, 'VALIDATION_FAILED');
  });

  test.each(['{', '{}{}', "{'a':1}", '{"a":01}', '{"a":NaN}', '// a', '{"a":1,}', '\u0000', '"\n"'])(
    'that is %j is malformed',
    async (text) => expect(await makeProject(text)).toBeError(400, 'MALFORMED_JSON'),
  );

  test('without a byte is judged by the rules', async () => {
    expect(await makeProject('')).toBeError(422, 'VALIDATION_FAILED');
  });
});

describe('a body that is nested', () => {
  const brackets = ['[', ']'] as const;
  const braces = ['{"a":', '1}'] as const;

  test.each([
    ['a MiB of opening brackets', '['.repeat(MIB - 200)],
    ['half a million arrays', nested(MIB / 2 - 100, brackets)],
    ['objects in objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['65 arrays', nested(65, brackets)],
  ])('too deep, %s, is refused', async (_, text) => {
    expect(await makeProject(text)).toBeError(400, 'MALFORMED_JSON');
    expect(await strongroom.admin.request({ method: 'POST', path: '/graphql', rawBody: inVariables(text) })).toBeError(
      400,
      'MALFORMED_JSON',
    );
  });

  test('64 levels deep is read, and brackets in texts are no levels', async () => {
    expect(await makeProject(nested(64, brackets))).toBeError(422, 'VALIDATION_FAILED');
    expect(await makeProject(project(`,"projectDescription":"${'['.repeat(150)}\\"${'{'.repeat(90)}"`))).toMatchObject({
      status: 200,
    });
    expect(
      await strongroom.admin.request({ method: 'POST', path: '/graphql', rawBody: inVariables(nested(62, braces)) }),
    ).toMatchObject({ status: 400 });
  });
});

test.each(['1e999', '-1e999', '12345678901234567890', '1e308', '0.1', '5e-324'])(
  'the number %s is refused where a whole one is due',
  async (number) => {
    const { project: existing } = await strongroom.seed.project();
    const reply = await strongroom.admin.request({
      method: 'POST',
      path: '/graphql',
      rawBody: inVariables(number),
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(
      await strongroom.admin.request({
        method: 'PATCH',
        path: `/api/v1/projects/${existing.id}`,
        rawBody: `{"pitVersionLimit":${number}}`,
      }),
    ).toBeError(422, 'VALIDATION_FAILED');
  },
);
