import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { digestOf, jsonbText, secretDigest } from '../../../../src/features/secrets/core/secret-states.js';
import fc from '../../../kit/properties.js';
import { freshDatabase } from '../../../kit/strongroom.js';

let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client(await freshDatabase());
  await client.connect();
});
afterAll(() => client.end());

/** Texts that a `jsonb` can hold. */
const storable = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', '').toWellFormed());
const entries = fc.array(fc.record({ key: storable, value: fc.option(storable), isEncrypted: fc.boolean() }), {
  maxLength: 4,
});

test('JSON is written as the database writes it', async () => {
  const documents = fc.sample(fc.oneof(entries, fc.dictionary(storable, entries), storable), 400);
  const { rows } = await client.query('select array(select text::jsonb::text from unnest($1::text[]) text) as texts', [
    documents.map((document) => JSON.stringify(document)),
  ]);
  expect(documents.map(jsonbText)).toEqual(rows[0].texts);
});

test('the digest of a row that is to be written is that of the row', async () => {
  const bytes = (): Buffer | null => (Math.random() < 0.5 ? null : randomBytes(50));
  const given = fc.sample(fc.tuple(storable, entries), 200).map(([key, metadata]) => ({
    environmentId: randomUUID(),
    folderId: randomUUID(),
    key,
    metadata,
    valueSealed: randomBytes(50),
    commentSealed: bytes(),
    metadataSealed: bytes(),
    rotationId: Math.random() < 0.5 ? null : randomUUID(),
  }));
  for (const row of given) {
    const { rows } = await client.query(
      `select ${secretDigest('s')} as digest from (select $1::uuid as environment_id, $2::uuid as folder_id, $3::text as key,
        $4::jsonb as metadata, $5::bytea as value_sealed, $6::bytea as comment_sealed, $7::bytea as metadata_sealed, $8::uuid as rotation_id) s`,
      [
        row.environmentId,
        row.folderId,
        row.key,
        JSON.stringify(row.metadata),
        row.valueSealed,
        row.commentSealed,
        row.metadataSealed,
        row.rotationId,
      ],
    );
    expect(digestOf(row)).toBe(rows[0].digest);
  }
});
