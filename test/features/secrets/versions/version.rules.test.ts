import { abilityOf } from '../../../../src/features/identity/permissions/ability.js';
import { RestoreGuard } from '../../../../src/features/secrets/restoring/restore-guard.js';
import { Visibility } from '../../../../src/features/secrets/scope/visibility.rules.js';
import {
  changedMetadataKeys,
  DIFFERENCES,
  differencesBetween,
  type Opened,
  VersionVisibility,
} from '../../../../src/features/secrets/versions/version.rules.js';
import type { Rule } from '../../../../src/kernel/authz/ability.js';
import { SealedText } from '../../../../src/kernel/crypto/sealed-text.js';
import fc from '../../../kit/properties.js';

const subject = (path: string, ...tags: string[]) => ({
  environment: 'dev',
  path,
  key: 'KEY',
  tags: tags.map((slug) => ({ slug })),
});
/** A secret that is there; `lastPath`: it is gone, and its folder had that path then. */
const stood = (it: ReturnType<typeof subject>, lastPath?: string) => ({
  ...it,
  isGone: lastPath !== undefined,
  lastPath: lastPath ?? it.path,
});
const open = subject('/open');
const shut = subject('/shut');
const at = (path: string) => ({ secretPath: { $eq: path } });

describe('what a caller sees of a version', () => {
  const seen = (rules: readonly Rule[], present: typeof open, past: typeof open, lastPath?: string) => {
    const versions = new VersionVisibility(new Visibility(abilityOf(rules)), stood(present, lastPath));
    return [versions.describes(past), versions.readsValue(past)];
  };
  const everything: Rule = { subject: 'secrets', action: ['describeSecret', 'readValue'] };

  test('is both told by its rules of the secret as it is and of the version as it was', () => {
    const inOpen = { ...everything, conditions: at('/open') };
    expect(seen([inOpen], open, open)).toEqual([true, true]);
    expect(seen([inOpen], open, shut)).toEqual([false, false]);
    expect(seen([inOpen], shut, open)).toEqual([false, false]);
  });

  test('is no value where either of them may only be described', () => {
    const rules = [everything, { subject: 'secrets', action: 'readValue', inverted: true, conditions: at('/shut') }];
    expect(seen(rules, open, open)).toEqual([true, true]);
    expect(seen(rules, open, shut)).toEqual([true, false]);
    expect(seen(rules, shut, open)).toEqual([true, false]);
  });

  test('is told of a secret that is gone by where it was as well', () => {
    const rules = [everything, { subject: 'secrets', action: 'readValue', inverted: true, conditions: at('/shut') }];
    expect(seen([{ ...everything, conditions: at('/open') }], open, open, '/shut')).toEqual([false, false]);
    expect(seen(rules, open, open, '/shut')).toEqual([true, false]);
    expect(seen(rules, open, open, '/open')).toEqual([true, true]);
  });

  test('looks at the tags of then as well', () => {
    const inverted = { subject: 'secrets', action: 'readValue', inverted: true };
    const rules = [everything, { ...inverted, conditions: { secretTags: { $in: ['vault'] } } }];
    expect(seen(rules, open, subject('/open', 'vault'))).toEqual([true, false]);
    expect(seen(rules, open, subject('/open', 'other'))).toEqual([true, true]);
  });
});

describe('who may restore', () => {
  const guard = (...rules: Rule[]) =>
    new RestoreGuard({ projectId: 'p', ability: abilityOf(rules) } as ConstructorParameters<typeof RestoreGuard>[0]);
  const rule = (action: string | string[], path?: string): Rule => ({
    subject: 'secrets',
    action,
    ...(path === undefined ? {} : { conditions: at(path) }),
  });
  const restoring = (it: RestoreGuard, before: typeof open | null, old: typeof open, after: typeof open) => () =>
    it.authorize({ secret: before === null ? stood(after, after.path) : stood(before), before, old, after });
  const copying = (it: RestoreGuard, elsewhere: typeof open, before: typeof open | null) => () =>
    it.authorize({ secret: stood(elsewhere), before, old: open, after: open });
  const denied = (verb: string) => expect.objectContaining({ attempt: { action: `secrets:${verb}`, projectId: 'p' } });

  test('edits the secret as it is and as it will be', () => {
    const editor = guard(rule(['describeSecret', 'readValue']), rule('edit', '/open'));
    expect(restoring(editor, open, open, open)).not.toThrow();
    expect(restoring(editor, shut, open, open)).toThrow(denied('edit'));
    expect(restoring(editor, open, open, shut)).toThrow(denied('edit'));
  });

  test('makes one that is gone, where it comes back to', () => {
    const maker = guard(rule(['describeSecret', 'readValue']), rule('create', '/open'));
    expect(restoring(maker, null, open, open)).not.toThrow();
    expect(restoring(maker, null, open, shut)).toThrow(denied('create'));
    expect(restoring(maker, open, open, open)).toThrow(denied('edit'));
  });

  test('knows of the secret and of the version', () => {
    const editor = guard(rule(['describeSecret', 'readValue'], '/open'), rule('edit'));
    expect(restoring(editor, open, shut, open)).toThrow(denied('describeSecret'));
    expect(restoring(editor, shut, open, open)).toThrow(denied('describeSecret'));
  });

  test('gets to read nothing by it that was written where it could not', () => {
    const reader = guard(rule(['describeSecret', 'edit']), rule('readValue', '/open'));
    expect(restoring(reader, open, shut, open)).toThrow(denied('readValue'));
    expect(restoring(reader, open, shut, shut)).not.toThrow();
    expect(restoring(guard(rule(['describeSecret', 'edit'])), open, shut, open)).not.toThrow();
  });

  test('gets nothing from a secret that is elsewhere, or was when it went, unless it may have that there', () => {
    const knower = guard(rule('describeSecret'), rule(['readValue', 'create', 'edit'], '/open'));
    const opener = guard(rule(['describeSecret', 'readValue', 'create', 'edit'], '/open'));
    for (const before of [null, open]) {
      expect(copying(knower, shut, before)).toThrow(denied('readValue'));
      expect(copying(opener, shut, before)).toThrow(denied('describeSecret'));
      expect(copying(opener, open, before)).not.toThrow();
    }
    const gone = { secret: stood(open, '/shut'), before: null, old: open, after: open };
    expect(() => knower.authorize(gone)).toThrow(denied('readValue'));
    expect(() => opener.authorize(gone)).toThrow(denied('describeSecret'));
  });

  test('deletes what was not there, if it may know of it and delete it', () => {
    const remover = guard(rule('describeSecret', '/open'), rule('delete'));
    expect(() => remover.authorizeRemoval(open)).not.toThrow();
    expect(() => remover.authorizeRemoval(shut)).toThrow(denied('describeSecret'));
    expect(() => guard(rule('describeSecret')).authorizeRemoval(open)).toThrow(denied('delete'));
  });
});

const short = fc.constantFrom('', 'a', 'b');
const version: fc.Arbitrary<Opened> = fc.record({
  record: fc.record({
    environmentId: fc.constantFrom('dev', 'prod'),
    path: fc.constantFrom('/', '/a'),
    key: short,
    tagIds: fc.array(short, { maxLength: 3 }),
    skipMultilineEncoding: fc.boolean(),
    reminderNote: fc.option(short),
    reminderRepeatDays: fc.option(fc.nat(2)),
    reminderRecipientIds: fc.array(short, { maxLength: 2 }),
  }),
  clear: fc.record({
    value: short.map((text) => new SealedText(text)),
    comment: fc.option(short.map((text) => new SealedText(text))),
    metadata: fc.array(
      fc.record({ key: short, value: short.map((text) => new SealedText(text)), isEncrypted: fc.boolean() }),
      { maxLength: 3 },
    ),
  }),
});

describe('the differences between two versions', () => {
  test('are none from a version to itself, whatever the order of its tags', () => {
    fc.assert(
      fc.property(version, (one) => {
        const same = { ...one, record: { ...one.record, tagIds: one.record.tagIds.toReversed() } };
        expect(differencesBetween(one, same)).toEqual([]);
        expect(changedMetadataKeys(one.clear, same.clear)).toEqual([]);
      }),
    );
  });

  test('are the same both ways, and name keys of metadata exactly when metadata differs', () => {
    fc.assert(
      fc.property(version, version, (one, other) => {
        const differences = differencesBetween(one, other);
        const keys = changedMetadataKeys(one.clear, other.clear);
        expect(differencesBetween(other, one)).toEqual(differences);
        expect(changedMetadataKeys(other.clear, one.clear)).toEqual(keys);
        expect(differences.includes('METADATA')).toBe(keys.length > 0);
        expect(differences).toEqual(DIFFERENCES.filter((part) => differences.includes(part)));
      }),
    );
  });

  test('are the one part that was changed', () => {
    const changes: readonly [string, (one: Opened) => Opened][] = [
      ['KEY', (one) => ({ ...one, record: { ...one.record, key: 'other' } })],
      ['PLACE', (one) => ({ ...one, record: { ...one.record, path: '/other' } })],
      ['PLACE', (one) => ({ ...one, record: { ...one.record, environmentId: 'other' } })],
      ['VALUE', (one) => ({ ...one, clear: { ...one.clear, value: new SealedText('other') } })],
      ['COMMENT', (one) => ({ ...one, clear: { ...one.clear, comment: new SealedText('other') } })],
      ['METADATA', (one) => ({ ...one, clear: { ...one.clear, metadata: [...one.clear.metadata, entry] } })],
      ['TAGS', (one) => ({ ...one, record: { ...one.record, tagIds: [...one.record.tagIds, 'other'] } })],
      ['SETTINGS', (one) => ({ ...one, record: { ...one.record, reminderNote: 'other' } })],
      ['SETTINGS', (one) => ({ ...one, record: { ...one.record, reminderRepeatDays: 9 } })],
      ['SETTINGS', (one) => ({ ...one, record: { ...one.record, reminderRecipientIds: ['other'] } })],
    ];
    const entry = { key: 'other', value: new SealedText(''), isEncrypted: false };
    fc.assert(
      fc.property(version, fc.constantFrom(...changes), (one, [part, change]) => {
        expect(differencesBetween(one, change(one))).toEqual([part]);
      }),
    );
  });
});
