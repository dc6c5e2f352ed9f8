import {
  type AlertFilter,
  FILTER_FIELDS,
  FILTER_OPERATORS,
  Filter,
  type FilteredCertificate,
  matchesFilters,
} from '../../../src/features/notifications/alerts/alert.rules.js';
import fc from '../../kit/properties.js';

const LEAF: FilteredCertificate = {
  profileName: 'web-server',
  commonName: 'Shop.Example.com',
  sans: ['shop.example.com', 'www.Shop.example.com', 'spiffe://shop/web'],
  isCa: false,
};
const AUTHORITY = { ...LEAF, isCa: true };

const filter = (field: string, operator: string, value: string): AlertFilter =>
  ({ field, operator, value }) as AlertFilter;

describe('one filter', () => {
  test.each([
    [true, 'common_name', 'equals', 'Shop.Example.com'],
    [false, 'common_name', 'equals', 'shop.example.com'],
    [true, 'common_name', 'not_equals', 'shop.example.com'],
    [false, 'common_name', 'not_equals', 'Shop.Example.com'],
    [true, 'common_name', 'contains', 'EXAMPLE'],
    [false, 'common_name', 'contains', 'exmaple'],
    [true, 'common_name', 'starts_with', 'shop'],
    [false, 'common_name', 'starts_with', 'example'],
    [true, 'common_name', 'ends_with', '.COM'],
    [false, 'common_name', 'ends_with', '.org'],
    [true, 'common_name', 'matches', '*.EXAMPLE.com'],
    [false, 'common_name', 'matches', 'example.com'],
    [true, 'common_name', 'matches', '[R-T]hop.{example,other}.com'],
    [true, 'san', 'equals', 'shop.example.com'],
    [false, 'san', 'equals', 'Shop.Example.com'],
    [false, 'san', 'not_equals', 'shop.example.com'],
    [true, 'san', 'not_equals', 'other.example.com'],
    [true, 'san', 'contains', 'WWW'],
    [true, 'san', 'starts_with', 'WWW.shop'],
    [true, 'san', 'ends_with', '/web'],
    [true, 'san', 'matches', 'spiffe://**'],
    [false, 'san', 'matches', 'spiffe:*'],
    [true, 'profile_name', 'equals', 'web-server'],
    [false, 'profile_name', 'equals', 'Web-Server'],
    [true, 'profile_name', 'matches', 'web-*'],
    [true, 'include_cas', 'equals', 'true'],
    [true, 'include_cas', 'equals', 'false'],
  ])('%s: %s %s %s', (expected, field, operator, value) => {
    expect(matchesFilters([filter(field, operator, value)], LEAF)).toBe(expected);
  });

  test('on a profile finds no certificate without one, but for what it is not', () => {
    const imported = { ...LEAF, profileName: null };
    const found = FILTER_OPERATORS.filter((operator) =>
      matchesFilters([filter('profile_name', operator, '**')], imported),
    );
    expect(found).toEqual(['not_equals']);
  });
});

describe('certificates of authorities', () => {
  test.each([
    [false, []],
    [true, ['true']],
    [false, ['false']],
    [false, ['true', 'false']],
  ] as const)('pass: %s, where they are included by %j', (expected, values) => {
    const filters = values.map((value) => filter('include_cas', 'equals', value));
    expect(matchesFilters(filters, AUTHORITY)).toBe(expected);
  });
});

const name = fc.stringMatching(/^[a-cA-C.*\\[]{1,6}$/);
const certificate: fc.Arbitrary<FilteredCertificate> = fc.record({
  profileName: fc.option(name),
  commonName: name,
  sans: fc.array(name, { maxLength: 3 }),
  isCa: fc.boolean(),
});
const anyFilter = fc
  .record({
    field: fc.constantFrom(...FILTER_FIELDS),
    operator: fc.constantFrom(...FILTER_OPERATORS),
    value: fc.oneof(name, fc.constantFrom('true', 'false')),
  })
  .filter((given) => Filter.safeParse(given).success);
const filters = fc.array(anyFilter, { maxLength: 4 });

describe('several filters', () => {
  test('find what each of them finds, where authorities are included', () => {
    fc.assert(
      fc.property(filters, certificate, (all, given) => {
        const each = all.every((one) => matchesFilters([one], { ...given, isCa: false }));
        const isIncluded = all.some(({ field, value }) => field === 'include_cas' && value === 'true');
        const isExcluded = all.some(({ field, value }) => field === 'include_cas' && value === 'false');
        expect(matchesFilters(all, given)).toBe(each && (!given.isCa || (isIncluded && !isExcluded)));
      }),
    );
  });

  test('find the same in any order, and fewer with one more', () => {
    fc.assert(
      fc.property(filters, anyFilter, certificate, (all, more, given) => {
        const found = matchesFilters(all, given);
        expect(matchesFilters(all.toReversed(), given)).toBe(found);
        if (!given.isCa && !found) expect(matchesFilters([...all, more], given)).toBe(false);
      }),
    );
  });

  test('compare in any case but for equal names, and equal and not equal are opposites of one another', () => {
    fc.assert(
      fc.property(certificate, name, fc.constantFrom('common_name', 'san', 'profile_name'), (given, value, field) => {
        const leaf = { ...given, isCa: false };
        const is = (operator: string, text = value) => matchesFilters([filter(field, operator, text)], leaf);
        expect(is('not_equals')).toBe(!is('equals'));
        for (const operator of ['contains', 'starts_with', 'ends_with'])
          expect(is(operator, value.toUpperCase())).toBe(is(operator, value.toLowerCase()));
        if (is('equals'))
          for (const operator of ['contains', 'starts_with', 'ends_with']) expect(is(operator)).toBe(true);
      }),
    );
  });
});

describe('a filter is refused', () => {
  const refusedAt = (given: object): string[] =>
    (Filter.safeParse(given).error?.issues ?? []).map(({ path }) => path.join('.')).sort();

  test.each([
    [['operator'], 'include_cas', 'contains', 'true'],
    [['value'], 'include_cas', 'equals', 'yes'],
    [['operator', 'value'], 'include_cas', 'matches', 'TRUE'],
    [['value'], 'common_name', 'matches', '{a'],
    [['value'], 'san', 'matches', '*a'.repeat(11)],
    [['value'], 'common_name', 'equals', ''],
    [['value'], 'common_name', 'equals', 'x'.repeat(256)],
    [['operator'], 'common_name', 'like', 'a'],
    [['field', 'operator'], 'serial', 'like', 'a'],
  ])('at %j: %s %s %s', (places, field, operator, value) => {
    expect(refusedAt({ field, operator, value })).toEqual(places);
  });

  test('in all its places at once, whatever is in them', () => {
    expect(refusedAt({})).toEqual(['field', 'operator', 'value']);
    expect(refusedAt({ field: 'include_cas', operator: 1, value: true })).toEqual(['operator', 'value']);
  });

  test('never where what it takes does not match by its pattern', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20 }), (value) => {
        const given = filter('common_name', 'matches', value);
        if (Filter.safeParse(given).success) expect(typeof matchesFilters([given], LEAF)).toBe('boolean');
      }),
    );
  });
});
