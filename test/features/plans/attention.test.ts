import pg from 'pg';
import * as statements from '../../../src/features/operations/attention/attention.sql.js';
import { migratedDatabase } from '../../kit/databases.js';
import { buffersOf, executionOf, explained } from '../../kit/explained.js';

const ROWS = 20_000;
/** For each row that needs a person some look-ups, and for no other row one. */
const FEW_PAGES = 3_500;
/** Of a hundred certificates one expires within a month and is replaced by nothing; of a thousand other rows one needs a person. */
const FILL = [
  `insert into secret_rotation (id, organization_id, project_id, environment_id, folder_id, connection_id, type, name, parameters, secrets_mapping,
     is_auto_rotation_enabled, rotation_interval, rotate_at_hours, rotate_at_minutes, schedule, status, next_rotation_at, last_attempted_at)
   select gen_random_uuid(), o, p, p, p, o, 'datatool-service-token', 'rotation ' || n, jsonb_build_object('tokenName', repeat('x', 100)), '{"a":"b"}',
     true, 30, 2, 30, '{}', case when n % 1000 = 0 then 'failed' else 'success' end, now() + n * interval '1 minute', now()
   from rows`,
  `insert into secret_rotation_attempt (id, organization_id, project_id, rotation_id, number, reason, state, name, candidate_sealed, actor_kind,
     actor_id, ended_at)
   select gen_random_uuid(), o, p, id, 1, 'schedule', 'succeeded', name, '\\x00', 'system', id, now() from secret_rotation
     cross join (select o, p from rows limit 1) as one`,
  `insert into credential_debt (id, organization_id, project_id, rotation_id, connection_id, type, reason, parameters, name, tries)
   select gen_random_uuid(), o, p, o, o, 'datatool-service-token', 'replaced', '{}', 'token', case when n % 1000 = 0 then 1 else 0 end from rows`,
  `insert into app_connection (id, organization_id, project_id, public_part, credentials_sealed, app, method, name, credentials_hash, check_state,
     failing_since)
   select gen_random_uuid(), o, p, '{}', '\\x00', 'datatool', 'api-token', 'connection ' || n, '', case when n % 1000 = 0 then 'failing' else 'working' end,
     case when n % 1000 = 0 then now() end from rows`,
  `insert into certificate (id, organization_id, project_id, lineage_id, source, common_name, sans, names_digest, serial_number, not_before, not_after,
     key_algorithm, fingerprint_sha256, certificate, is_ca)
   select gen_random_uuid(), o, p, gen_random_uuid(), 'imported', 'host ' || n, '{}', decode(md5(n::text), 'hex'), n::text,
     now() - interval '200 days', now() + case when n % 100 = 0 then 20 else 40 + n % 300 end * interval '1 day', 'ec-p256', n::text, repeat('x', 1000), false
   from rows`,
  `insert into certificate_request (id, organization_id, project_id, kind, state, is_automatic, actor_kind, actor_id, common_name, certificate_id,
     ended_at, error_code, issued_certificate_id)
   select gen_random_uuid(), organization_id, project_id, 'renewal', case when serial_number::integer % 1000 = 0 then 'failed' else 'issued' end, true,
     'system', id, common_name, id, now(), case when serial_number::integer % 1000 = 0 then 'INTERNAL' end,
     case when serial_number::integer % 1000 = 0 then null else id end from certificate`,
  `insert into notification_message (id, organization_id, project_id, source, owner_id, channel_id, channel_type, recipient, event, state, give_up_at,
     ended_at, next_at)
   select gen_random_uuid(), o, p, 'project-notice', p, o, 'email', '\\x00', 'secret-reminder', case when n % 1000 = 0 then 'failed' else 'sent' end, now(),
     now(), null from rows`,
  `insert into certificate_alert (id, organization_id, project_id, name, event_type, alert_before, filters)
   select gen_random_uuid(), o, p, 'alert ' || n, 'expiration', '30d', '[]' from rows`,
  `insert into identity_alert (id, organization_id, project_id, identity_id, name, alert_before_days)
   select gen_random_uuid(), o, case when n % 2 = 0 then p end, gen_random_uuid(), 'alert ' || n, 30 from rows`,
  `insert into project (id, organization_id, name, slug, type, kms_secret_manager_key_id)
   select case when n <= 100 then p else gen_random_uuid() end, o, 'project ' || n, 'project-' || n, 'secret-manager', o from rows`,
  `insert into job (id, kind, organization_id, project_id, dedupe_key, state, finished_at)
   select gen_random_uuid(), 'kind', o, p, n::text, case when n % 1000 = 0 then 'failed' else 'done' end, now() from rows`,
] as const;

const { listItems, ...figures } = statements;

let client: pg.Client;
let projects: string[];
beforeAll(async () => {
  client = new pg.Client(await migratedDatabase());
  await client.connect();
  // Neither owners nor references: only how much is read counts.
  await client.query('set session_replication_role = replica');
  await client.query(`create temporary table rows as
    select n, '00000000-0000-4000-8000-000000000001'::uuid as o, ('00000000-0000-4000-8000-0000000001' || lpad((n % 100)::text, 2, '0'))::uuid as p
    from generate_series(1, ${ROWS}) as n`);
  for (const statement of FILL) await client.query(statement);
  await client.query('vacuum analyze');
  const { rows } = await client.query('select distinct p from rows');
  projects = rows.map(({ p }) => p);
}, 300_000);
afterAll(() => client?.end());

/** Pages that a statement looks at. */
async function pagesOf({ text, params }: { text: string; params: object }, given: Readonly<Record<string, unknown>>) {
  await client.query(`prepare measured as ${text}`);
  const values = Object.keys(params).map((name) => given[name] as never);
  const plan = await explained(client, executionOf('measured', values));
  await client.query('deallocate measured');
  return buffersOf(plan);
}

test.each(Object.entries(figures))('%s reads little of much', async (_, statement) => {
  expect(await pagesOf(statement, {})).toBeLessThan(FEW_PAGES);
});

test('a page of items reads little of much', async () => {
  const some = `{${projects.join()}}`;
  const lists = {
    rotations: some,
    connections: some,
    certificates: some,
    authorities: some,
    alerts: some,
    webhooks: some,
    identities: some,
  };
  const own = {
    allConnections: 'true',
    allSinks: 'true',
    allKeys: 'true',
    allIdentities: 'true',
    allJobs: 'true',
    allOfInstallation: 'false',
  };
  const from = { urgency: '0', time: '-infinity', kind: '', id: projects[0], limit: '101' };
  const organizationId = '00000000-0000-4000-8000-000000000001';
  expect(
    await pagesOf(listItems, { ...lists, ...own, ...from, organizationId, projectId: null, kinds: null }),
  ).toBeLessThan(FEW_PAGES);
});
