import { mustSucceed } from '../kit/caller.ts';
import { embeddedUrl } from '../kit/processes.ts';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import type { Ground } from './ground.ts';
import { metric } from './measure.ts';

const CERTIFICATES = 100_000;
const ALERTS = 1_000;
const GIVE_UP_MS = 300_000;
const MIB = 1024 * 1024;

/** They expire evenly over a year. Rows stand in for imports; nothing reads what they hold as PEM. */
const FILL_CERTIFICATES = `
  insert into certificate (id, organization_id, project_id, lineage_id, source, common_name, sans, serial_number, not_before, not_after,
    key_algorithm, fingerprint_sha256, certificate, is_ca)
  select made.id, p.organization_id, p.id, made.id, 'imported', made.name, array[made.name], n::text, now() - interval '10 days',
    now() + n * interval '1 year' / ${CERTIFICATES}, 'ec-p256', n::text, '', false
  from project p, generate_series(1, ${CERTIFICATES}) as n
    cross join lateral (select gen_random_uuid() as id, 'host' || n || '.example.com' as name) as made
  where p.id = $1`;
const FILL_ALERTS = `
  insert into certificate_alert (id, organization_id, project_id, name, event_type, alert_before, filters)
  select gen_random_uuid(), organization_id, id, 'alert ' || n, 'expiration', '30d',
    jsonb_build_array(jsonb_build_object('field', 'common_name', 'operator', 'starts_with', 'value', 'host' || n || '.'))
  from project, generate_series(1, ${ALERTS}) as n where id = $1`;
const CHECKED = `select count(*)::int as done from job where kind = 'certificate-alerts:check' and state = 'done'`;

/** Prints how long the alerts of a large project take to find what is due in a daily run. */
export async function runDailyRun({ service, admin }: Ground): Promise<void> {
  const body = { projectName: 'Certificates', type: 'cert-manager' };
  const { id } = mustSucceed(await admin.post('/api/v2/workspace', body)).body.project;
  const resident = async () => (await metric(service.url, 'process_resident_memory_bytes')) / MIB;
  await withClient(await embeddedUrl(service.dataDir), async (client) => {
    await client.query(FILL_CERTIFICATES, [id]);
    await client.query(FILL_ALERTS, [id]);
    await client.query('analyze');
    const [before, begun] = [await resident(), performance.now()];
    await client.query(
      `update job set wake_at = now() where kind = 'certificate-alerts:find-due' and every_seconds is not null`,
    );
    await until('all alerts to have looked', GIVE_UP_MS, async () => {
      const { rows } = await client.query<{ done: number }>(CHECKED);
      return rows[0]?.done === ALERTS;
    });
    const seconds = (performance.now() - begun) / 1_000;
    console.log(
      `daily run, ${ALERTS} alerts and ${CERTIFICATES} certificates: ${seconds.toFixed(1)} s (wanted < 30 s), memory ${before.toFixed(0)} to ${(await resident()).toFixed(0)} MiB`,
    );
  });
}
