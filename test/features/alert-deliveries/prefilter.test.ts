import { randomUUID } from 'node:crypto';
import { findCandidates } from '../../../src/features/notifications/alert-deliveries/matching.js';
import { type AlertFilter, matchesFilters } from '../../../src/features/notifications/alerts/public.js';
import { mustSucceed } from '../../kit/caller.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import fc from '../../kit/properties.js';
import { rounds } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom = useSharedStrongroom();
const NAMES = ['shop.example.com', 'SHOP.example.com', 'a_b%c\\d', 'şhop', '\u212aelvin', 'İstanbul', 'x', ''];
const VALUES = ['shop', 'SHOP.example.com', '_', '%', '\\', 'k', 'i', 'ş', 'x', 'example.com', 'a_b%c\\d'];

const filter: fc.Arbitrary<AlertFilter> = fc.record({
  field: fc.constantFrom('common_name', 'profile_name', 'san'),
  operator: fc.constantFrom('equals', 'not_equals', 'contains', 'starts_with', 'ends_with'),
  value: fc.constantFrom(...VALUES),
});
const filters = fc
  .tuple(fc.array(filter, { maxLength: 3 }), fc.constantFrom<'true' | 'false' | null>('true', 'false', null))
  .map(([all, cas]): AlertFilter[] =>
    cas === null ? all : [...all, { field: 'include_cas', operator: 'equals', value: cas }],
  );

test('what a database leaves out of certificates passes no filters', async () => {
  const { admin, project } = await strongroom.seed.project({ type: 'cert-manager' });
  const { pem } = await newLeaf(await newRoot(), { lastsDays: 20 });
  const body = { projectId: project.id, certificate: pem };
  const { id } = mustSucceed(await admin.post('/api/v1/cert-manager/certificates/import', body)).body.certificate;
  const pairs = NAMES.flatMap((name) => [null, ...NAMES.slice(0, 4)].map((other) => ({ name, other })));
  await strongroom.sql(
    `insert into certificate (id, organization_id, project_id, lineage_id, source, common_name, sans, profile_slug, serial_number, not_before,
       not_after, key_algorithm, fingerprint_sha256, certificate, is_ca)
     select gen_random_uuid(), organization_id, project_id, gen_random_uuid(), source, n.name, array[n.name, coalesce(n.other, 'y')], n.other, serial_number,
       not_before, not_after, key_algorithm, 'copy ' || n.place, certificate, n.place % 5 = 0
     from certificate c, unnest($2::text[], $3::text[]) with ordinality as n (name, other, place) where c.id = $1`,
    [id, pairs.map(({ name }) => name), pairs.map(({ other }) => other)],
  );
  const query = <R extends object>(text: string, params?: readonly unknown[]) =>
    strongroom.sql<R>(text, [...(params ?? [])]);
  const list = async (filters: readonly AlertFilter[]) => {
    const search = { projectId: project.id, period: '30d', filters, after: null };
    return (await findCandidates(query, [search], 1_000)).flat();
  };
  const all = await list([{ field: 'include_cas', operator: 'equals', value: 'true' }]);
  expect(all).toHaveLength(pairs.length + 1);
  await fc.assert(
    fc.asyncProperty(filters, async (given) => {
      const wanted = all.filter((certificate) => matchesFilters(given, certificate)).map((found) => found.id);
      const read = (await list(given)).filter((certificate) => matchesFilters(given, certificate));
      expect(read.map((found) => found.id)).toEqual(wanted);
    }),
    { numRuns: rounds(300) },
  );
  expect((await list([{ field: 'common_name', operator: 'equals', value: randomUUID() }])).length).toBe(0);
});
