import { randomUUID } from 'node:crypto';
import { freshDatabase } from '../../kit/databases.js';
import { migrateTo } from '../../kit/migrate-to.js';
import { withClient } from '../../kit/tables.js';

test('the history begins with what machine identities have when it is first kept', async () => {
  const url = await freshDatabase();
  await migrateTo(url, '0024-referenced-secrets');
  const [organization, identity] = [randomUUID(), randomUUID()];
  await withClient(url, async (client) => {
    await client.query(`insert into organization (id, name, slug) values ($1, 'O', 'o')`, [organization]);
    await client.query(
      `insert into identity (id, organization_id, name, metadata, updated_at)
       values ($1, $2, 'i', '[{"key": "team", "value": "dev"}]', '2026-01-02T03:04:05Z')`,
      [identity, organization],
    );
  });
  await migrateTo(url, '0025-metadata-history');
  const { rows } = await withClient(url, (client) =>
    client.query(
      `select organization_id, source, content -> 'metadata' as metadata, valid_from, valid_to from access_history where row_id = $1`,
      [identity],
    ),
  );
  expect(rows).toEqual([
    {
      organization_id: organization,
      source: 'identity',
      metadata: [{ key: 'team', value: 'dev' }],
      valid_from: new Date('2026-01-02T03:04:05Z'),
      valid_to: null,
    },
  ]);
});
