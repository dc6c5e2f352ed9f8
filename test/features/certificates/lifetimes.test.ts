import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { issue, SHOP, seedProfile } from './issuing-kit.js';
import { CA, CERTIFICATES, makeAuthority, PENDING, ROOT, seedProject } from './kit.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const inDays = (days: number): string =>
  new Date(Math.ceil((Date.now() + days * DAY_MS) / 1_000) * 1_000).toISOString();
/** In hours, since what is issued may begin some seconds ago. */
const hoursOf = ({ notBefore, notAfter }: { notBefore: string; notAfter: string }): number =>
  Math.round((Date.parse(notAfter) - Date.parse(notBefore)) / HOUR_MS);
const faultsOf = ({ body }: Reply) => body.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`);

describe('how long a certificate is valid', () => {
  const strongroom = useSharedStrongroom();
  const send = (admin: Caller, profileId: string, body: object) =>
    admin.post(`${CERTIFICATES}/issue`, { profileId, ...SHOP, ...body });

  test('is said in days, as a number and a unit, or by its end', async () => {
    const { admin, profile } = await seedProfile(strongroom);
    expect(hoursOf(await issue(admin, profile.id, { ...SHOP, ttl: '1h' }))).toBe(1);
    expect(hoursOf(await issue(admin, profile.id, { ...SHOP, ttl: '2w' }))).toBe(14 * 24);
    const notAfter = inDays(3);
    const made = await issue(admin, profile.id, { ...SHOP, notAfter });
    expect(Date.parse(made.notAfter)).toBe(Date.parse(notAfter));
    const renewed = await admin.post(`${CERTIFICATES}/${made.id}/renew`, { ttl: '30m' });
    expect(hoursOf(mustSucceed(renewed).body.certificate)).toBeLessThanOrEqual(1);
    const ISSUE = `mutation ($input: IssueCertificateInput!) {
      issueCertificate(input: $input) { certificate { notAfter } } }`;
    const input = { profileId: profile.id, sans: [{ kind: 'DNS', value: 'shop.example.com' }], notAfter };
    const { issueCertificate } = await admin.data(ISSUE, { input });
    expect(Date.parse(issueCertificate.certificate.notAfter)).toBe(Date.parse(notAfter));
  });

  test('is at most that of the issuer and of the profile, and said once', async () => {
    const { admin, profile } = await seedProfile(strongroom, { maxDays: 10 }, { validDays: 5 });
    for (const [life, fault] of [
      [{ ttl: '6d' }, 'body.ttl TOO_BIG'],
      [{ ttl: '1y' }, 'body.ttl TOO_BIG'],
      [{ notAfter: inDays(6) }, 'body.notAfter TOO_BIG'],
      [{ notAfter: inDays(20) }, 'body.notAfter TOO_BIG'],
      [{ notAfter: inDays(-1) }, 'body.notAfter NOT_IN_FUTURE'],
      [{ notAfter: 'tomorrow' }, 'body.notAfter INVALID_FORMAT'],
      [{ ttl: '0d' }, 'body.ttl INVALID_FORMAT'],
      [{ ttl: '90' }, 'body.ttl INVALID_FORMAT'],
      [{ ttl: 90 }, 'body.ttl INVALID_TYPE'],
      [{ ttl: '1d', validDays: 1 }, 'body.ttl INVALID'],
      [{ notAfter: inDays(1), ttl: '1d' }, 'body.notAfter INVALID'],
      [{ validUntil: inDays(1) }, 'body UNKNOWN_KEY'],
      [{ validity: '1d' }, 'body UNKNOWN_KEY'],
      [{ altNames: 'a.example.com' }, 'body UNKNOWN_KEY'],
    ] as const) {
      const refused = await send(admin, profile.id, life);
      expect([life, refused.status, faultsOf(refused)]).toEqual([life, 422, [fault]]);
    }
    const all = await admin.get(`${CERTIFICATES}?projectId=${profile.projectId}`);
    expect(mustSucceed(all).body.certificates).toEqual([]);
    expect(hoursOf(await issue(admin, profile.id, { ...SHOP, ttl: '4d' }))).toBe(4 * 24);
  });

  test('is said of an authority in the same ways, and of none that an external one issues', async () => {
    const { admin, project } = await seedProject(strongroom);
    const notAfter = inDays(400);
    const root = await makeAuthority(admin, project.id, { notAfter });
    expect(Date.parse(root.notAfter)).toBe(Date.parse(notAfter));
    const below = { ...ROOT, kind: 'intermediate', parentId: root.id, projectId: project.id };
    const refused = await admin.post(CA, { ...below, name: 'Below', ttl: '2y' });
    expect([refused.status, faultsOf(refused)]).toEqual([422, ['body.ttl TOO_BIG']]);
    const child = mustSucceed(await admin.post(CA, { ...below, name: 'Below', ttl: '100d' })).body.certificateAuthority;
    expect(hoursOf(child)).toBe(2_400);
    const renewed = await admin.post(`${CA}/${child.id}/renew`, { notAfter: inDays(200) });
    expect(hoursOf(mustSucceed(renewed).body.certificateAuthority)).toBe(4_800);
    const next = { name: 'G2', subject: { commonName: 'G2' }, ttl: '1w' };
    const successor = await admin.post(`${CA}/${root.id}/successor`, next);
    expect(hoursOf(mustSucceed(successor).body.certificateAuthority)).toBe(168);
    for (const life of [{ ttl: '1y' }, { validDays: 9 }, { notAfter }]) {
      const pending = await admin.post(CA, { ...PENDING, projectId: project.id, ...life });
      expect([pending.status, faultsOf(pending)]).toEqual([422, [`body.${Object.keys(life)[0]} INVALID`]]);
    }
    mustSucceed(await admin.post(CA, { ...PENDING, projectId: project.id }));
  });
});
