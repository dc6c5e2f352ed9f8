import { dotenvFormat } from '../../../../src/features/secrets/transfer/dotenv-format.rules.js';
import {
  type EnvReader,
  hasPythonDotenv,
  readAllByPython,
  readByCompose,
  readByNpm,
  readByPython,
  readByShell,
  SHELLS,
} from '../../../kit/env-readers.js';
import fc from '../../../kit/properties.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { exported, seededPlace } from './files.js';
import { comments, nastyText, printed } from './format.js';

/** Values that some reader or shell takes for something else. */
const NASTY = [
  '',
  ' ',
  '  around\t',
  'a b',
  'a;b',
  'a#b',
  'a #b',
  '#',
  '~/x',
  '*',
  '$HOME',
  '$$',
  '$(echo RUN >ran)',
  '`echo RUN >ran`',
  '"$(echo RUN >ran)"',
  "it's",
  "it's `echo RUN >ran`",
  `it's "$(echo RUN >ran)"`,
  `a"b'c`,
  '`a"b\'c`',
  '"',
  "'",
  '"open',
  "'open",
  '\\',
  'C:\\dir\\new',
  'C:\\dir\\',
  '\\\\host\\share',
  "a\\'b",
  'a\\nb',
  'a\nb',
  '\n',
  'a\r\nb',
  'a\nB=$(echo RUN >ran)\nc',
  "a'\nB=$(echo RUN >ran)\n'c",
  'a"\nB=$(echo RUN >ran)\n"c',
  '{"a": ["b", 1], "c": "it"}',
  '!history !!',
  'x[$(echo RUN >ran)]',
  'a=b=',
  '-----BEGIN KEY-----\nMIIB+/=\n-----END KEY-----\n',
  'Zoë Á \u0081 \u{1f511} 日本 e\u0301',
  '\u2028B=1\u2029\u0085\u00a0\ufeff',
  '\u0001\u0007\u001b[0m\u007f',
  '&& echo RUN >ran',
  '<(echo)',
  'a\tb',
  '%s %d {} [] ()',
  '${X',
  '$',
];

const READERS: Readonly<Record<string, EnvReader>> = {
  ...Object.fromEntries(SHELLS.map((shell) => [shell.join(' '), readByShell(shell)])),
  'npm dotenv': readByNpm,
  'python-dotenv, by its source': readByPython,
  'Docker Compose, by its source': readByCompose,
  ...(hasPythonDotenv() ? { 'python-dotenv': (text: string) => readAllByPython([text])[0] ?? null } : {}),
};
if (!hasPythonDotenv()) process.stderr.write('python-dotenv is not installed: what its source says is tested\n');

describe('a printed .env file', () => {
  test.each(Object.entries(READERS))('means the same to %s, which executes nothing', (_, read) => {
    const entries = NASTY.map((value, index) => ({ key: `K${index}`, value, comment: value, isFinal: true }));
    const expressible = entries.filter((entry) => dotenvFormat.print([entry]).inexpressible === undefined);
    const wanted = Object.fromEntries(expressible.map(({ key, value }) => [key, value]));
    expect(read(printed(dotenvFormat, expressible))).toEqual(wanted);
  });

  test('leaves out only values that have no common form', () => {
    const without = NASTY.filter((value) => dotenvFormat.print([{ key: 'A', value }]).inexpressible !== undefined);
    expect(without).toEqual([
      "it's `echo RUN >ran`",
      `it's "$(echo RUN >ran)"`,
      `a"b'c`,
      '`a"b\'c`',
      '\\',
      'C:\\dir\\',
      '\\\\host\\share',
      "a\\'b",
      'a\r\nb',
      "a'\nB=$(echo RUN >ran)\n'c",
    ]);
  });

  test.each(['${X}', 'a ${} b', '${A:-b}'])(
    'has no %j, which python-dotenv replaces, unless it is a reference',
    (value) => {
      expect(dotenvFormat.print([{ key: 'A', value, isFinal: true }])).toEqual({
        inexpressible: [{ index: 0, part: 'secretValue' }],
      });
      expect(dotenvFormat.print([{ key: 'A', value }])).toEqual({ text: `A='${value}'\n` });
    },
  );

  test('means the same to all of them, whatever the values are', () => {
    const entry = fc.record({ value: nastyText.filter((it) => !it.includes('\0')), comment: comments });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), (all) => {
        const entries = all
          .map((it, index) => ({ key: `K${index}`, isFinal: true, ...it }))
          .filter((it) => dotenvFormat.print([it]).inexpressible === undefined);
        const text = printed(dotenvFormat, entries);
        const wanted = Object.fromEntries(entries.map(({ key, value }) => [key, value]));
        for (const read of [readByShell(['sh']), readByNpm, readByPython, readByCompose])
          expect(read(text)).toEqual(wanted);
      }),
      { numRuns: 50 },
    );
  });

  // Shells calculate what is assigned to these, or print them expanded, and both execute commands.
  test.each(['RANDOM', 'SECONDS', 'OPTIND', 'SRANDOM', 'HISTCMD', 'BASHPID', 'PS4', 'ENV', 'IFS', 'a-b', 'a.b', '1A'])(
    'cannot have the key %s, which a shell does not merely assign',
    (key) => {
      expect(dotenvFormat.print([{ key, value: 'x[$(echo RUN >ran)]' }])).toEqual({
        inexpressible: [{ index: 0, part: 'secretKey' }],
      });
    },
  );
});

describe('a .env file that is read', () => {
  const sign = fc.constantFrom(...`'"\`\\# \nab=:\t$`, '\\n', "\\'", " 'x'", ' # ', '\n\n', '\nZ=', '\u00a0', '${A}');
  const head = fc.tuple(fc.constantFrom('', ' ', 'export ', '# '), fc.constantFrom('=', ' = ', ': ', '=', "='", '="'));
  const file = fc
    .array(fc.tuple(head, fc.array(sign, { maxLength: 8 })), { minLength: 1, maxLength: 5 })
    .map((all) => all.map(([[before, after], value], at) => `${before}K${at}${after}${value.join('')}`).join('\n'));

  test('means the same to the readers, or is refused or warned about', () => {
    let compared = 0;
    fc.assert(
      fc.property(file, (text) => {
        const { entries, violations } = dotenvFormat.parse(text);
        if (violations.length > 0) return;
        const wanted = Object.fromEntries(entries.map(({ key, value }) => [key, value]));
        expect(readByNpm(text)).toEqual(wanted);
        const reasons = new Set(entries.flatMap(({ warnings = [] }) => warnings.map(({ reason }) => reason)));
        const isYaml = /^\s*(?:export\s+)?\w+:/m.test(text);
        if (!reasons.has('VARIABLE')) {
          expect(readByCompose(text)).toEqual(wanted);
          if (!isYaml) expect(readByPython(text)).toEqual(wanted);
        }
        if (reasons.size > 0 || entries.length === 0 || compared === 50) return;
        compared += 1;
        expect(readByShell(['sh'])(text)).toEqual(wanted);
      }),
      { numRuns: 4_000 },
    );
    expect(compared).toBeGreaterThan(20);
  });
});

describe('an exported .env file', () => {
  const strongroom = useSharedStrongroom();

  test('is read alike by all readers, or names the secrets that could not be', async () => {
    const { admin, at } = await seededPlace(strongroom);
    const secrets = NASTY.map((secretValue, index) => ({ secretKey: `K${index}`, secretValue }));
    const { status } = await admin.post('/api/v4/secrets/batch', { ...at, secrets });
    expect(status).toBe(200);
    const refused = await exported(admin, at, 'dotenv');
    expect(refused).toBeError(422, 'NOT_EXPRESSIBLE');
    const keys = refused.body.details.map(({ message }: { message: string }) => /`(\w+)`/.exec(message)?.[1]);
    expect(keys).toHaveLength(10);
    for (const key of keys) await admin.delete(`/api/v4/secrets/${key}`, at);
    const { body } = await exported(admin, at, 'dotenv');
    const wanted = Object.fromEntries(
      secrets.filter(({ secretKey }) => !keys.includes(secretKey)).map((it) => [it.secretKey, it.secretValue]),
    );
    for (const read of Object.values(READERS)) expect(read(body.content)).toEqual(wanted);
  });
});
