import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { type AuditClass, recordedClass, subjectOf } from '../../../src/kernel/audit/audit-class.js';
import { type AuditRecord, macOf } from '../../../src/kernel/audit/audit-record.js';

const [organizationId, projectId, one, other] = Array.from({ length: 4 }, () => randomUUID()) as [
  string,
  string,
  string,
  string,
];

describe('what a change is about', () => {
  test.each([
    ['the fact of its name', 'secret-rotation:update', { secretRotationId: one, rotationId: other }, one],
    ['the fact of the end of its name', 'secret-rotation:update', { rotationId: one, secretId: other }, one],
    ['the fact of the beginning of its name', 'identity-token-auth:attach', { identityId: one }, one],
    ['a list of one', 'secret:update', { secretIds: [one], folderId: other }, one],
    ['nothing for a list of many', 'secret:update', { secretIds: [one, other], folderId: other }, null],
    ['nothing without such a fact', 'tag:update', { folderId: one }, null],
    ['nothing for what is no id', 'tag:update', { tagId: 'one' }, null],
    ['its project', 'project:update', {}, projectId],
    ['its organization', 'organization:update', {}, organizationId],
    ['the organization that it names', 'sub-organization:create', { organizationId: one }, one],
    ['the id as the database has it', 'tag:update', { tagId: one.toUpperCase() }, one],
  ])('is %s', (_, action, facts, subject) => {
    expect(subjectOf({ action, projectId, facts }, organizationId)).toBe(subject);
  });

  test('is what the event names, whatever its facts are', () => {
    expect(subjectOf({ action: 'tag:update', facts: { tagId: one }, subjectId: other }, organizationId)).toBe(other);
    expect(subjectOf({ action: 'tag:update', facts: { tagId: one }, subjectId: null }, organizationId)).toBeNull();
  });
});

test.each<[AuditClass, string, AuditRecord['outcome'], string | null]>([
  ['denial', 'secret:update', 'denied', null],
  ['change', 'secret:update', 'allowed', one],
  ['change', 'identity-universal-auth:login', 'allowed', null],
  ['value-read', 'secret:get', 'allowed', one],
  ['value-read', 'idempotency:replay', 'allowed', one],
  ['browse', 'secret:list-deleted', 'allowed', null],
  ['browse', 'secret:preview-restore', 'allowed', null],
])('a record of before there were classes is of class %s as %s that was %s', (expected, action, outcome, disclosed) => {
  expect(recordedClass({ class: null, action, outcome, disclosed })).toBe(expected);
  expect(recordedClass({ class: 'browse', action, outcome, disclosed })).toBe('browse');
});

describe('the MAC of a record', () => {
  const key = createSecretKey(randomBytes(32));
  const record: AuditRecord = {
    ...{ id: one, organizationId, projectId, action: 'secret:get', outcome: 'allowed', actorKind: 'identity' },
    ...{ actorId: other, tokenId: null, requestId: one, address: null, userAgent: null, facts: {}, disclosed: null },
    ...{ class: null, subjectId: null },
  };
  const values = [one, organizationId, projectId, record.action, 'allowed', 'identity', other, null, one, null, null];

  test.each([null, other.replaceAll('-', '')])(
    'is that of before for a record without a class that disclosed %s',
    (disclosed) => {
      const covered = [...values, '{}', ...(disclosed === null ? [] : [disclosed])];
      const mac = createHmac('sha256', key).update(JSON.stringify(covered)).digest();
      expect(macOf({ ...record, disclosed }, key)).toEqual(mac);
    },
  );

  test('covers class, subject and disclosure, each in its place', () => {
    const records = [null, one, other].flatMap((subjectId) =>
      ([null, 'change', 'browse'] as const).flatMap((recorded) =>
        [null, one, other].map((disclosed) => ({ ...record, subjectId, class: recorded, disclosed })),
      ),
    );
    expect(new Set(records.map((each) => macOf(each, key).toString('hex'))).size).toBe(records.length);
  });
});
