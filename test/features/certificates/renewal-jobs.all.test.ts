import { renewalRetryAt } from '../../../src/features/certificates/issuing/request.queries.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { MAKE_DUE } from '../../kit/schedules.js';
import { type OtherNode, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { contentOf, issue, newCsr, PROFILES, renew, requestsOf, SHOP, seedProfile } from './issuing-kit.js';
import { CA, CERTIFICATES } from './kit.js';

const WAIT_MS = 60_000;
const strongroom = useSharedStrongroom();
let other: OtherNode;
beforeAll(async () => {
  other = await strongroom.otherNode();
});

// biome-ignore lint/suspicious/noExplicitAny: as replies have it
type Any = any;

/** Others may have jobs of the same kinds. */
const projects: string[] = [];
const seed = async (profile?: Readonly<Record<string, unknown>>) => {
  const made = await seedProfile(strongroom, profile);
  projects.push(made.project.id);
  return made;
};

/** As if so much of the life of a certificate were over. */
const age = (id: string, days: number) =>
  strongroom.sql(
    'update certificate set not_before = not_before - make_interval(days => $2), not_after = not_after - make_interval(days => $2) where id = $1',
    [id, days],
  );

/** Has the service do scheduled work now, and waits until it has done with what it found. */
async function runSchedule(kind: string): Promise<void> {
  await strongroom.sql(MAKE_DUE, [kind]);
  await until('the scheduled work', WAIT_MS, async () => {
    const [left] = await strongroom.sql(
      `select (select wake_at <= now() from job where kind = $1 and every_seconds is not null) as is_due,
         (select count(*)::int from job where state in ('waiting', 'running')
           and (kind = $1 or kind = 'certificates:renew' and project_id = any($2))) as jobs`,
      [kind, projects],
    );
    return left?.is_due === false && left.jobs === 0;
  });
}

/** Has the service look for certificates to renew. */
const look = () => runSchedule('certificates:find-renewals');

const lineage = async (admin: Caller, id: string): Promise<Any[]> => {
  const document =
    'query ($id: ID!) { certificate(id: $id) { id version renewals { id keyAlgorithm notAfter hasPrivateKey metadata { key } } } }';
  return (await admin.data(document, { id })).certificate.renewals;
};

test('the service renews what is due, once, by the days of the profile or of the certificate', async () => {
  const { admin, project, profile } = await seed({ renewBeforeDays: 30 });
  const [due, early, own, never] = await Promise.all([
    issue(admin, profile.id, { ...SHOP, metadata: [{ key: 'team', value: 'a' }] }),
    issue(admin, profile.id),
    issue(admin, profile.id, { ...SHOP, renewBeforeDays: 40 }),
    issue(admin, profile.id, { ...SHOP, renewBeforeDays: 0 }),
  ]);
  const { csr } = await newCsr();
  const theirs = await issue(admin, profile.id, { csr });
  // A life so short that it is shorter than the days of the profile: due after half of it.
  const short = await issue(admin, profile.id, { ...SHOP, validDays: 10 });
  const revoked = await issue(admin, profile.id);
  for (const { id } of [due, never, theirs, revoked]) await age(id, 61);
  for (const { id } of [early, own]) await age(id, 55);
  await age(short.id, 4);
  mustSucceed(await admin.post(`${CERTIFICATES}/${revoked.id}/revoke`, {}));
  await look();
  expect(await lineage(admin, due.id)).toMatchObject([
    { keyAlgorithm: 'ec-p256', hasPrivateKey: true, metadata: [{ key: 'team' }] },
  ]);
  expect(await lineage(admin, own.id)).toHaveLength(1);
  for (const { id } of [early, never, revoked, short]) expect(await lineage(admin, id)).toHaveLength(0);
  const [kept] = await lineage(admin, theirs.id);
  expect(kept.hasPrivateKey).toBe(false);
  expect((await contentOf(admin, kept.id)).certificate).not.toBe((await contentOf(admin, theirs.id)).certificate);
  await age(short.id, 2);
  await look();
  await look();
  for (const { id } of [due, own, theirs, short]) expect(await lineage(admin, id)).toHaveLength(1);
  const requests = await requestsOf(admin, project.id, '&kind=renewal');
  expect(requests).toHaveLength(4);
  for (const request of requests)
    expect(request).toMatchObject({ state: 'issued', isAutomatic: true, actorKind: 'system' });
  const trail = await strongroom.auditRows(`project_id = $1 and action = 'certificate:renew'`, [project.id]);
  expect(trail.map(({ actor_kind }) => actor_kind)).toEqual(['system', 'system', 'system', 'system']);
  const [told] = await strongroom.sql(
    `select count(*)::int as count from job where kind = 'certificate-alerts:renewal' and project_id = $1`,
    [project.id],
  );
  expect(told).toEqual({ count: 4 });
});

test('a renewal that fails is kept with its reason, shown on the certificate, and tried again a day later', async () => {
  const { admin, project, root, profile } = await seed({ renewBeforeDays: 30 });
  const certificate = await issue(admin, profile.id);
  await age(certificate.id, 61);
  mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
  await look();
  await look();
  const failed = await requestsOf(admin, project.id, '&state=failed');
  expect(failed).toMatchObject([
    { kind: 'renewal', isAutomatic: true, errorCode: 'CERTIFICATE_AUTHORITY_DISABLED', certificateId: certificate.id },
  ]);
  const shown = mustSucceed(await admin.get(`${CERTIFICATES}/${certificate.id}`)).body.certificate.renewalFailure;
  expect(shown).toMatchObject({ code: 'CERTIFICATE_AUTHORITY_DISABLED' });
  expect(Date.parse(shown.nextTryAt) - Date.parse(shown.failedAt)).toBe(86_400_000);
  mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'active' }));
  mustSucceed(await admin.patch(`${PROFILES}/${profile.id}`, { sans: [] }));
  await strongroom.sql(
    `update certificate_request set created_at = created_at - interval '25 hours' where project_id = $1`,
    [project.id],
  );
  await look();
  const [second] = await requestsOf(admin, project.id, '&state=failed');
  expect(second).toMatchObject({
    errorCode: 'VALIDATION_FAILED',
    faults: [{ path: 'id', message: expect.stringMatching(/^sans\[0\]: /) }],
  });
  // An authority that ends no later than the certificate would renew it over and over.
  mustSucceed(await admin.patch(`${PROFILES}/${profile.id}`, { sans: null }));
  await strongroom.sql(
    `update certificate_request set created_at = created_at - interval '25 hours' where project_id = $1`,
    [project.id],
  );
  await strongroom.sql(
    'update certificate_authority set not_after = (select not_after from certificate where id = $2) where id = $1',
    [root.id, certificate.id],
  );
  await look();
  expect((await requestsOf(admin, project.id, '&state=failed'))[0].errorCode).toBe('RENEWAL_NOT_LONGER');
  expect(await lineage(admin, certificate.id)).toEqual([]);
  const trail = await strongroom.auditRows(`project_id = $1 and action = 'certificate-request:fail'`, [project.id]);
  expect(trail).toHaveLength(3);
  await strongroom.sql(`update certificate_request set ended_at = now() - interval '91 days' where id = $1`, [
    failed[0].id,
  ]);
  await look();
  expect(await requestsOf(admin, project.id, '&state=failed')).toHaveLength(2);
});

test('a renewal of a certificate of one day that fails at half its life is tried again an hour later', async () => {
  const { admin, project, root, profile } = await seed({ renewBeforeDays: 30 });
  const certificate = await issue(admin, profile.id, { ...SHOP, validDays: 1 });
  const later = (hours: number, table: string, columns: readonly string[], where: string) =>
    strongroom.sql(
      `update ${table} set ${columns.map((column) => `${column} = ${column} - make_interval(hours => $2)`).join(', ')} where ${where} = $1`,
      [certificate.id, hours],
    );
  await later(13, 'certificate', ['not_before', 'not_after'], 'id');
  mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
  await look();
  await look();
  expect(await requestsOf(admin, project.id, '&state=failed')).toHaveLength(1);
  mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'active' }));
  await later(1, 'certificate', ['not_before', 'not_after'], 'id');
  await later(1, 'certificate_request', ['created_at'], 'certificate_id');
  await look();
  expect(await lineage(admin, certificate.id)).toHaveLength(1);
  expect(mustSucceed(await admin.get(`${CERTIFICATES}/${certificate.id}`)).body.certificate.renewalFailure).toBeNull();
});

test('the next try of a renewal leaves time for more of them, whatever the life that is left', async () => {
  const minutes = [1, 5, 30, 59, 60, 61, 90, 719, 720, 721, 1_440, 10_080, 43_200, 525_600];
  const random = Array.from({ length: 500 }, (_, at) => Math.ceil(1.03 ** at));
  const rows = await strongroom.sql<{ left: number; pause: number }>(
    `select m::float8 as left, extract(epoch from ${renewalRetryAt('f', 'f + make_interval(mins => m)')} - f)::float8 / 60 as pause
     from unnest($1::integer[]) m, (select now() as f) f order by m`,
    [[...minutes, ...random]],
  );
  for (const [at, { left, pause }] of rows.entries()) {
    expect(pause).toBeLessThanOrEqual(1_440);
    expect(pause).toBeGreaterThanOrEqual(5);
    if (left >= 60) expect(pause).toBeLessThanOrEqual(left / 12 + 0.001);
    expect(pause).toBeGreaterThanOrEqual(rows[at - 1]?.pause ?? 0);
  }
});

test('a renewal waits for a key that is disabled, says so and notifies, and follows when it is enabled', async () => {
  const { admin, project, profile } = await seed({ renewBeforeDays: 30 });
  const certificate = await issue(admin, profile.id);
  const key = mustSucceed(await admin.post('/api/v1/organization/keys', { name: 'own' })).body.organizationKey;
  mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/key`, { organizationKeyId: key.id }));
  await age(certificate.id, 61);
  mustSucceed(await admin.post(`/api/v1/organization/keys/${key.id}/disable`, {}));
  await strongroom.sql(MAKE_DUE, ['certificates:find-renewals']);
  const jobs = () =>
    strongroom.sql(
      `select state, error_code as code, attempts from job where kind = 'certificates:renew' and project_id = $1`,
      [project.id],
    );
  await until('the renewal to wait', WAIT_MS, async () => (await jobs())[0]?.code === 'KEY_DISABLED');
  await strongroom.sql(MAKE_DUE, ['certificates:find-renewals']);
  expect(await jobs()).toEqual([{ state: 'waiting', code: 'KEY_DISABLED', attempts: 0 }]);
  const shown = mustSucceed(await admin.get(`${CERTIFICATES}/${certificate.id}`)).body.certificate.renewalFailure;
  expect(shown).toMatchObject({ code: 'KEY_DISABLED', nextTryAt: null });
  const notices = await strongroom.sql(`select kind from notice where subject_id = $1`, [certificate.id]);
  expect(notices).toEqual([{ kind: 'certificate-request-failure' }]);
  mustSucceed(await admin.post(`/api/v1/organization/keys/${key.id}/enable`, {}));
  await until('the renewal', WAIT_MS, async () => (await lineage(admin, certificate.id)).length === 1);
  expect(await requestsOf(admin, project.id, '&state=failed')).toEqual([]);
});

test('two nodes renew each certificate once, beside people who renew the same ones', async () => {
  expect(other.url).not.toBe(strongroom.url);
  const { admin, project, profile } = await seed({ renewBeforeDays: 30 });
  const made = await Promise.all(Array.from({ length: 12 }, () => issue(admin.patient, profile.id)));
  for (const { id } of made) await age(id, 61);
  const [looked] = await Promise.all([
    look(),
    ...made.slice(0, 4).map(({ id }) => admin.post(`${CERTIFICATES}/${id}/renew`, {})),
  ]);
  expect(looked).toBeUndefined();
  await look();
  for (const { id } of made) expect(await lineage(admin, id)).toHaveLength(1);
  const states = (await requestsOf(admin, project.id, '&kind=renewal')).map(({ state }) => state);
  expect(states).toEqual(made.map(() => 'issued'));
  expect(await renew(admin, (await lineage(admin, made[0].id))[0].id)).toMatchObject({ lineageId: made[0].id });
});

test('expired certificates are deleted after as many days as their project says, and of other projects none', async () => {
  const PATH = '/api/v1/cert-manager/certificate-cleaning';
  const { admin, project, profile } = await seed();
  const [long, revoked, recent, valid] = await Promise.all(Array.from({ length: 4 }, () => issue(admin, profile.id)));
  const keeping = await seed();
  const kept = await issue(keeping.admin, keeping.profile.id);
  mustSucceed(await admin.post(`${CERTIFICATES}/${revoked.id}/revoke`, {}));
  for (const { id } of [long, revoked, kept]) await age(id, 90 + 31);
  await age(recent.id, 90 + 29);
  const there = async () =>
    (await strongroom.sql('select id from certificate where project_id = $1', [project.id])).map(({ id }) => id).sort();
  const clean = () => runSchedule('certificates:delete-expired');

  await clean();
  expect(await there()).toHaveLength(4);
  expect(mustSucceed(await admin.get(`${PATH}/${project.id}`)).body).toEqual({
    certificateCleaning: { daysAfterExpiry: null },
  });
  for (const daysAfterExpiry of [6, 3_651, '30'])
    expect(await admin.patch(`${PATH}/${project.id}`, { daysAfterExpiry })).toBeError(422, 'VALIDATION_FAILED');
  mustSucceed(await admin.patch(`${PATH}/${project.id}`, { daysAfterExpiry: 30 }));
  await clean();
  expect(await there()).toEqual([recent.id, valid.id].sort());
  expect(await strongroom.sql('select from certificate where id = $1', [kept.id])).toHaveLength(1);
  expect(
    await strongroom.sql('select from certificate_revocation where serial_number = $1', [revoked.serialNumber]),
  ).toHaveLength(1);
  const [record, ...others] = await strongroom.auditRows(
    `action = 'certificate:delete-expired' and project_id = any($1)`,
    [[project.id, keeping.project.id]],
  );
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    project_id: project.id,
    facts: { certificateIds: expect.arrayContaining([long.id]) },
  });
  expect(record?.facts.certificateIds).toHaveLength(2);

  mustSucceed(await admin.patch(`${PATH}/${project.id}`, { daysAfterExpiry: null }));
  await age(recent.id, 90);
  await clean();
  expect(await there()).toHaveLength(2);
});

test('only projects with certificates can have them deleted', async () => {
  const { admin, project } = await strongroom.seed.project();
  const path = `/api/v1/cert-manager/certificate-cleaning/${project.id}`;
  expect(await admin.patch(path, { daysAfterExpiry: 30 })).toBeError(422, 'VALIDATION_FAILED');
});
