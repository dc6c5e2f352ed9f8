import { didYouMean, isNameable, misspeltName, nearestName, unknownName } from '../../src/kernel/suggestions.js';
import fc from '../kit/properties.js';

const KNOWN = ['projectName', 'secretValue', 'slug', 'name', 'type', 'roles'];

describe('a misspelt name', () => {
  test.each([
    ['projectname', 'projectName'],
    ['project_name', 'projectName'],
    ['Project-Name', 'projectName'],
    ['__SECRET_VALUE', 'secretValue'],
    ['SLUG', 'slug'],
    ['s_l-u_g', 'slug'],
    ['projectNmae', 'projectName'],
    ['secretVlaue', 'secretValue'],
    ['secretVal', 'secretValue'],
    ['secretValues', 'secretValue'],
    ['secret value', 'secretValue'],
    ['rolse', 'roles'],
    ['slugs', 'slug'],
  ])('%s is found to mean %s', (sent, meant) => {
    expect(misspeltName(sent, KNOWN)).toBe(meant);
  });

  test.each(['nmae', 'tpye', 'slg', 'secretKey', 'projectId', 'description', '', '__proto__', 'x'.repeat(100_000)])(
    'is not what %.20s is',
    (sent) => {
      expect(misspeltName(sent, KNOWN)).toBeUndefined();
    },
  );

  test.each([
    ['ttl', 'accessTokenTTL'],
    ['trustedIps', 'accessTokenTrustedIps'],
    ['secretType', 'type'],
    ['sub_organization_slug', 'organizationSlug'],
    ['path', 'secretPath'],
    ['value', 'secretValue'],
  ])('%s is %s with other words at its beginning', (sent, known) => {
    expect(misspeltName(sent, ['unrelated', known])).toBe(known);
  });

  test.each([
    ['id', 'organizationId'],
    ['name', 'projectName'],
    ['slug', 'projectSlug'],
    ['key', 'monkey'],
    ['secretPathSuffix', 'secretPath'],
  ])('%s is not %s', (sent, known) => {
    expect(misspeltName(sent, [known])).toBeUndefined();
  });

  test('means the nearest of several names', () => {
    expect(misspeltName('secretPath1', ['secretPath', 'secretPath12', 'secretPath_1'])).toBe('secretPath_1');
    expect(misspeltName('tagIdx', ['tagSlug', 'tagIds', 'tagId'])).toBe('tagIds');
    expect(misspeltName('abcdefg', ['abcdeXY', 'abcdefX'])).toBe('abcdefX');
  });

  const word = fc.stringMatching(/^[a-z]{5,12}$/);
  test('is found whichever two letters are changed, dropped or added', () => {
    const edit = fc.record({
      at: fc.nat(11),
      kind: fc.constantFrom('change', 'drop', 'add'),
      letter: fc.constantFrom('x', 'q'),
    });
    fc.assert(
      fc.property(word, fc.array(edit, { minLength: 1, maxLength: 2 }), (name, edits) => {
        const sent = edits.reduce((text, { at, kind, letter }) => {
          const index = at % text.length;
          return (
            text.slice(0, index) + (kind === 'drop' ? '' : letter) + text.slice(kind === 'add' ? index : index + 1)
          );
        }, name);
        fc.pre(sent.length >= 5);
        expect(misspeltName(sent, [name])).toBe(name);
      }),
    );
  });

  test('is not found three letters away', () => {
    fc.assert(
      fc.property(word, fc.constantFrom('123', '1-2-3'), (name, more) => {
        expect(misspeltName(name + more, [name])).toBeUndefined();
      }),
    );
  });
});

describe('an unknown name', () => {
  test.each(['a', '_', '$in', '__proto__', 'a-b_c', 'x'.repeat(40)])(
    'is repeated if it is an identifier: %s',
    (sent) => {
      expect(unknownName('field', sent, [])).toBe(`unknown field \`${sent}\``);
    },
  );

  test.each([
    '',
    '1a',
    '-a',
    'a b',
    'a.b',
    'ä',
    'a\n',
    '\na',
    'a\r\nSet-Cookie: b=1',
    'a`',
    '<b>',
    'x'.repeat(41),
    '0'.repeat(8),
  ])('is not repeated otherwise: %j', (sent) => {
    expect(isNameable(sent)).toBe(false);
    expect(unknownName('field', sent, [])).toBe('unknown field (only identifiers of at most 40 characters are named)');
  });

  test('is followed by the known one that may be meant', () => {
    expect(unknownName('field', 'projectNmae', KNOWN)).toBe('unknown field `projectNmae`; did you mean `projectName`?');
    expect(unknownName('parameter', 'secret value', KNOWN)).toMatch(/named\); did you mean `secretValue`\?$/);
    expect(didYouMean('x'.repeat(65), ['x'.repeat(65)])).toBe('');
  });

  test.each([
    ['CreateSecretInput12345', '; did you mean `CreateSecretInput`?'],
    ['CreateSecretInput123456', ''],
  ])('of many letters is near up to five that differ: %s', (sent, said) => {
    expect(didYouMean(sent, ['CreateSecretInput'])).toBe(said);
  });

  test('is followed by none that is further away than another, or than four of ten letters and one', () => {
    const name = fc.stringMatching(/^[a-d]{1,7}$/);
    fc.assert(
      fc.property(name, fc.uniqueArray(name, { minLength: 1, maxLength: 5 }), (sent, known) => {
        fc.pre(misspeltName(sent, known) === undefined);
        const all = known.map((one) => edits(sent, one));
        const fewest = Math.min(...all);
        const most = Math.floor(sent.length * 0.4) + 1;
        const meant = known[all.indexOf(fewest)];
        expect(didYouMean(sent, known)).toBe(fewest <= most ? `; did you mean \`${meant}\`?` : '');
      }),
    );
  });
});

/** Letters that were added, dropped, changed or swapped with their neighbour, by trying everything. */
function edits(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  const ways = [edits(restA, b) + 1, edits(a, restB) + 1, edits(restA, restB) + Number(a[0] !== b[0])];
  if (a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0]) ways.push(edits(a.slice(2), b.slice(2)) + 1);
  return Math.min(...ways);
}

describe('a stored name', () => {
  const stored = ['dev', 'staging', 'prod', 'eu-west-1', 'a'];

  test.each([
    ['prod', 'prod'],
    ['prdo', 'prod'],
    ['PROD', 'prod'],
    ['production', 'prod'],
    ['stag', 'staging'],
    ['dew', 'dev'],
    ['eu_west_1', 'eu-west-1'],
    ['eu-west-2', 'eu-west-1'],
  ])('%s is found to mean %s', (sent, meant) => {
    expect(nearestName(sent, stored)).toBe(meant);
  });

  test.each(['qa', 'a', 'uat', 'test', 'integration', '', 'x'.repeat(100_000)])('is not what %.20s is', (sent) => {
    expect(nearestName(sent, stored)).toBeUndefined();
  });
});
