import { randomBytes, randomUUID } from 'node:crypto';
import { eventIdsOf, positionOf } from '../../../src/features/audit/change-feed/position.js';
import type { Context } from '../../../src/kernel/context.js';
import { Keyring } from '../../../src/kernel/crypto/keyring.js';
import { RootKey } from '../../../src/kernel/crypto/root-key.js';
import { InstallationKeys, RootKeys } from '../../../src/kernel/crypto/root-keys.js';
import { StableKeys } from '../../../src/kernel/crypto/stable-keys.js';
import { NOTHING_DISABLED } from '../../kit/nothing-disabled.js';

const DAY_MS = 86_400_000;
const now = new Date('2026-01-31T12:00:00Z');
const keys = new InstallationKeys(new RootKeys(new RootKey(randomBytes(32))), StableKeys.make());
const keyring = new Keyring(keys, () => Promise.reject(new Error('an ID needs no statement')), NOTHING_DISABLED);
const caller = (organizationId: string) => ({ keyring, organizationId }) as Context;

describe('the ID of an event', () => {
  const ctx = caller(randomUUID());
  const at = { sequence: 42n, index: 3 };
  const written = (daysAgo: number) => eventIdsOf(ctx, {}, new Date(now.getTime() - daysAgo * DAY_MS))(at);

  test('is a position for seven days, and expired then', () => {
    expect(positionOf(ctx, written(0), { settled: 42n, now, filter: {} })).toEqual(at);
    expect(positionOf(ctx, written(6.9), { settled: 50n, now, filter: {} })).toEqual(at);
    expect(positionOf(ctx, written(7.1), { settled: 50n, now, filter: {} })).toBe('position-expired');
  });

  test('is unknown to another organization, and where the trail has not come so far', () => {
    expect(positionOf(caller(randomUUID()), written(0), { settled: 50n, now, filter: {} })).toBe('unknown-position');
    expect(positionOf(ctx, written(0), { settled: 41n, now, filter: {} })).toBe('unknown-position');
    expect(positionOf(ctx, 'text', { settled: 50n, now, filter: {} })).toBe('unknown-position');
  });
});
