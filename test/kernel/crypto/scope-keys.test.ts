import { createSecretKey, randomBytes } from 'node:crypto';
import type { StoredKey } from '../../../src/kernel/crypto/key-store.js';
import { ScopeKeys } from '../../../src/kernel/crypto/scope-keys.js';

const row = (id: string, createdAt: number, isDestroyed: boolean): StoredKey => ({
  ...{ id, createdAt, isDestroyed, isRetired: isDestroyed },
  ...{ wrappedKeySealed: Buffer.alloc(0), parentKeyId: null, parentWrappedKeySealed: null },
});

test('digests stay the same in whatever order the database names keys that were destroyed', () => {
  const rows = [row('a', 1, true), row('b', 2, true), row('c', 3, false)];
  const keys = new Map(rows.map(({ id }) => [id, createSecretKey(randomBytes(64))]));
  const orders = [
    [0, 1, 2],
    [1, 0, 2],
    [2, 1, 0],
    [1, 2, 0],
  ];
  const digests = orders.map((order) => {
    const scope = new ScopeKeys({ organizationId: 'o', projectId: 'p' });
    scope.absorb(
      order.map((index) => rows[index] as StoredKey),
      ({ id }) => keys.get(id) as ReturnType<typeof createSecretKey>,
    );
    return scope.digest('text').toString('hex');
  });
  expect(new Set(digests).size).toBe(1);
});
