import { createPrivateKey, X509Certificate } from 'node:crypto';
import { factsOf } from '../../../src/features/certificates/x509/facts.js';
import { mustSucceed } from '../../kit/caller.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import {
  contentOf,
  issue,
  lifeOf,
  makeProfile,
  newCsr,
  PROFILES,
  pathsOf,
  REQUESTS,
  requestsOf,
  SHOP,
  seedProfile,
} from './issuing-kit.js';
import { CA, CERTIFICATES, makeAuthority } from './kit.js';

const strongroom = useSharedStrongroom();

describe('issuing a certificate', () => {
  test('with a key of ours shows it in the inventory, keeps the request, and gives the key to who may read it', async () => {
    const { admin, project, root, profile } = await seedProfile(strongroom, {
      defaults: { subject: { organization: 'Example', country: 'DE' }, keyAlgorithm: 'ec-p384', validDays: 30 },
    });
    const metadata = [{ key: 'team', value: 'shop' }];
    const certificate = await issue(admin, profile.id, { ...SHOP, metadata, renewBeforeDays: 7 });
    expect(certificate).toMatchObject({
      ...{ projectId: project.id, authorityId: root.id, profileId: profile.id, profileSlug: 'web', source: 'issued' },
      ...{ commonName: 'shop.example.com', sans: ['shop.example.com'], keyAlgorithm: 'ec-p384', hasPrivateKey: true },
      ...{ lineageId: certificate.id, renewedFromId: null, renewBeforeDays: 7, metadata, status: 'active', version: 1 },
    });
    expect(lifeOf(certificate)).toBe(30);
    const { certificate: pem, chain, key } = await contentOf(admin, certificate.id);
    expect(chain).toBe(root.certificate);
    const { subject, keyUsages, extendedKeyUsages } = factsOf(new X509Certificate(pem as string));
    expect(subject).toBe('C=DE, O=Example, CN=shop.example.com');
    expect([keyUsages, extendedKeyUsages]).toEqual([['digitalSignature'], []]);
    const issued = new X509Certificate(pem as string);
    expect(issued.checkPrivateKey(createPrivateKey(key as string))).toBe(true);
    expect(await requestsOf(admin, project.id)).toMatchObject([
      {
        ...{ kind: 'issuance', state: 'issued', isAutomatic: false, actorKind: 'identity', profileSlug: 'web' },
        ...{
          commonName: 'shop.example.com',
          certificateId: null,
          issuedCertificateId: certificate.id,
          errorCode: null,
        },
      },
    ]);
    const { certificateRequests } = await admin.data(
      'query ($id: ID!) { certificateRequests(projectId: $id) { nodes { actorKind } } }',
      { id: project.id },
    );
    expect(certificateRequests.nodes).toEqual([{ actorKind: 'IDENTITY' }]);
    const [row] = await strongroom.sql<{ text: string }>(
      `select encode(key_sealed, 'escape') || metadata::text as text from certificate where id = $1`,
      [certificate.id],
    );
    expect(row?.text).not.toMatch(/PRIVATE KEY|MIG/);
    const [event] = await strongroom.sql(`select kind from job where subject_id = $1`, [certificate.id]);
    expect(event).toEqual({ kind: 'certificate-alerts:issuance' });
  });

  test('tells what is not set from what is empty', async () => {
    const { admin, project, root } = await seedProfile(strongroom);
    const subject = { organization: 'Example' };
    const defaults = { subject, keyUsages: [], extendedKeyUsages: ['clientAuth'] };
    const bare = await makeProfile(admin, { project, root }, { slug: 'bare', defaults, sans: [], keyAlgorithms: null });
    expect(bare).toMatchObject({
      sans: [],
      keyAlgorithms: null,
      subject: null,
      defaults: { keyUsages: [], keyAlgorithm: null },
    });
    const only = { subject: { commonName: 'a' } };
    const said = async (body: object) => {
      const { id } = await issue(admin, bare.id, { ...only, ...body });
      const {
        subject: name,
        keyUsages,
        extendedKeyUsages,
      } = factsOf(new X509Certificate((await contentOf(admin, id)).certificate as string));
      return [name, keyUsages, extendedKeyUsages];
    };
    expect(await said({})).toEqual(['O=Example, CN=a', [], ['clientAuth']]);
    expect(await said({ subject: { commonName: 'a', organization: '' }, extendedKeyUsages: [] })).toEqual([
      'CN=a',
      [],
      [],
    ]);
    expect(await said({ keyUsages: ['keyAgreement'] })).toEqual(['O=Example, CN=a', ['keyAgreement'], ['clientAuth']]);
    const refused = await admin.post(`${CERTIFICATES}/issue`, { profileId: bare.id, ...SHOP });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(refused)).toEqual(['body.sans[0]']);
    const none = await makeProfile(admin, { project, root }, { slug: 'none', keyAlgorithms: [] });
    const nobody = await admin.post(`${CERTIFICATES}/issue`, { profileId: none.id, ...SHOP });
    expect(pathsOf(nobody)).toEqual(['body.keyAlgorithm']);
    const change = { sans: null, defaults: null };
    expect(mustSucceed(await admin.patch(`${PROFILES}/${bare.id}`, change)).body.certificateProfile).toMatchObject({
      ...{ sans: null, defaults: null, version: 2 },
    });
  });

  test('is refused with every fault at its place, and the request is kept with its reason', async () => {
    const { admin, project, profile } = await seedProfile(strongroom, {
      subject: [
        { attribute: 'commonName', allowed: ['*.example.com'], denied: ['secret.*'] },
        { attribute: 'organization', required: ['Example*'] },
      ],
      sans: [{ kind: 'dns', allowed: ['*.EXAMPLE.com'], required: ['api.*'] }],
      keyAlgorithms: ['ec-p256'],
      keyUsages: { allowed: ['digitalSignature'], required: ['digitalSignature'] },
      extendedKeyUsages: { denied: ['codeSigning'] },
      maxDays: 10,
    });
    const bad = {
      subject: { commonName: 'secret.example.com', locality: 'Berlin' },
      sans: [
        { kind: 'dns', value: 'a.example.com' },
        { kind: 'dns', value: 'a.example.org' },
        { kind: 'ip', value: '192.0.2.1' },
        { kind: 'email', value: 'nobody' },
      ],
      keyAlgorithm: 'rsa-2048',
      keyUsages: ['keyEncipherment'],
      extendedKeyUsages: ['serverAuth', 'codeSigning'],
      isCa: true,
      pathLength: 1,
    };
    const reply = await admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, ...bad });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(reply)).toEqual([
      ...['body.sans[3].value', 'body.subject.commonName', 'body.subject.organization', 'body.subject.locality'],
      ...['body.sans[1]', 'body.sans', 'body.sans[2]', 'body.sans[3]', 'body.keyAlgorithm', 'body.keyUsages[0]'],
      ...['body.keyUsages', 'body.extendedKeyUsages[1]', 'body.isCa', 'body.keyUsages'],
    ]);
    expect(reply.text).not.toMatch(/Berlin|192\.0\.2|example\.org/);
    const [kept] = await requestsOf(admin, project.id);
    expect(kept).toMatchObject({
      kind: 'issuance',
      state: 'failed',
      errorCode: 'VALIDATION_FAILED',
      issuedCertificateId: null,
    });
    expect(kept.faults).toHaveLength(14);
    expect(mustSucceed(await admin.get(`${REQUESTS}/${kept.id}`)).body.certificateRequest).toEqual(kept);
    const good = {
      subject: { commonName: 'a.example.com', organization: 'Example AG' },
      sans: [{ kind: 'dns', value: 'API.example.com' }],
    };
    expect(lifeOf(await issue(admin, profile.id, good))).toBe(10);
    const long = await admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, ...good, validDays: 11 });
    expect(long.body.details).toMatchObject([{ path: 'body.validDays', message: 'must be at most 10' }]);
    expect((await requestsOf(admin, project.id, '&state=issued')).length).toBe(1);
    expect((await requestsOf(admin, project.id, '&limit=2')).length).toBe(2);
    const trail = await strongroom.auditRows(`project_id = $1 and action = 'certificate-request:fail'`, [project.id]);
    expect(trail).toHaveLength(2);
  });

  test.each([
    'evil.com .example.com',
    ' shop.example.com',
    'evil.com\u00a0.example.com',
    'a,b.example.com',
    'a\\.example.com',
  ])('is refused for the common name %j when the profile allows *.example.com', async (commonName) => {
    const { admin, profile } = await seedProfile(strongroom, {
      subject: [{ attribute: 'commonName', allowed: ['*.example.com'] }],
    });
    // A request keeps blanks at the ends, which the field `subject` does not.
    const send = async (name: string) => {
      const { csr } = await newCsr({ commonName: name, sans: [] });
      return admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, csr });
    };
    const refused = await send(commonName);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(refused)).toEqual(['body.csr']);
    for (const name of ['shop.example.com', '*.example.com', 'bücher.example.com']) mustSucceed(await send(name));
  });

  test('is refused for a denied name in whatever way it is written, also as a wildcard', async () => {
    const { admin, profile } = await seedProfile(strongroom, {
      subject: [{ attribute: 'commonName', denied: ['admin.example.com'] }],
      sans: [
        { kind: 'dns', denied: ['admin.example.com', '{root,a.b}?.shop.example.com', 'ops*example.net'] },
        { kind: 'ip', allowed: ['fd00:*', '2001:db8::1'], denied: ['fd00::7', 'FD00:0:0:0:0:0:0:8'] },
        { kind: 'uri', allowed: ['https://*.example.com/**'], denied: ['https://admin.example.com/**'] },
      ],
    });
    const reply = (body: object) => admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, ...body });
    const named = { sans: [{ kind: 'dns', value: 'x.example.com' }] };
    for (const commonName of ['ADMIN.example.com', 'admin.example.com.', '*.example.com', 'admin\n.example.com'])
      expect(await reply({ ...named, subject: { commonName } })).toBeError(422, 'VALIDATION_FAILED');
    const denied = [
      ...['*.example.com', '*.Shop.example.com', '*.example.net'].map((value) => ({ kind: 'dns', value })),
      ...['FD00:0::7', 'fd00::8', '2001:db8::2'].map((value) => ({ kind: 'ip', value })),
      ...['HTTPS://ADMIN.example.com/x', 'https://admin.example.com:443/x'].map((value) => ({ kind: 'uri', value })),
    ];
    const refused = await reply({ sans: denied });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(refused).sort()).toEqual(denied.map((_, at) => `body.sans[${at}]`).sort());
    const allowed = [
      ...['*.deep.example.com', '*.example.org', 'x.example.com'].map((value) => ({ kind: 'dns', value })),
      ...['FD00:0::9', '2001:DB8:0::1'].map((value) => ({ kind: 'ip', value })),
      { kind: 'uri', value: 'HTTPS://Shop.example.com:443/x' },
    ];
    expect(mustSucceed(await reply({ sans: allowed })).body.certificate.sans).toHaveLength(allowed.length);
  });

  test('never outlives its issuer, and is refused by one that is pending, disabled or expired', async () => {
    const { admin, project, root, profile } = await seedProfile(strongroom, {}, { validDays: 20 });
    expect((await issue(admin, profile.id)).notAfter).toBe(root.notAfter);
    const send = (body = {}) => admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, ...SHOP, ...body });
    const long = await send({ validDays: 21 });
    expect(long).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(long)).toEqual(['body.validDays']);
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
    expect(await send()).toBeError(409, 'CERTIFICATE_AUTHORITY_DISABLED');
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'active' }));
    const deep = await makeAuthority(admin, project.id, { name: 'Deep', maxPathLength: 0 });
    const authorities = await makeProfile(admin, { project, root: deep }, { slug: 'ca', ca: 'allowed' });
    const authority = await admin.post(`${CERTIFICATES}/issue`, { profileId: authorities.id, ...SHOP, isCa: true });
    expect(pathsOf(authority)).toEqual(['body.isCa']);
    await strongroom.sql('update certificate_authority set not_after = now() where id = $1', [root.id]);
    expect(await send()).toBeError(409, 'CERTIFICATE_AUTHORITY_EXPIRED');
    const pending = await makeAuthority(admin, project.id, {
      name: 'P',
      kind: 'intermediate',
      subject: { commonName: 'P' },
    });
    mustSucceed(await admin.patch(`${PROFILES}/${profile.id}`, { authorityId: pending.id }));
    expect(await send()).toBeError(409, 'CERTIFICATE_AUTHORITY_PENDING');
    const codes = (await requestsOf(admin, project.id)).map(({ errorCode }: { errorCode: string }) => errorCode);
    expect(codes).toEqual([
      ...['CERTIFICATE_AUTHORITY_PENDING', 'CERTIFICATE_AUTHORITY_EXPIRED', 'VALIDATION_FAILED'],
      ...['CERTIFICATE_AUTHORITY_DISABLED', 'VALIDATION_FAILED', null],
    ]);
  });

  test('leaves an idempotency key free when it is refused, and answers a repeated one with what it made', async () => {
    const { admin, project, profile } = await seedProfile(strongroom, { maxDays: 5 });
    const headers = { 'idempotency-key': `key-${project.id}` };
    const body = { profileId: profile.id, ...SHOP };
    const path = `${CERTIFICATES}/issue`;
    const send = (validDays: number) => admin.request({ method: 'POST', path, headers, body: { ...body, validDays } });
    expect(await send(9)).toBeError(422, 'VALIDATION_FAILED');
    const first = mustSucceed(await send(5));
    expect((await send(5)).body).toEqual(first.body);
    const states = (await requestsOf(admin, project.id)).map(({ state }: { state: string }) => state);
    expect(states).toEqual(['issued', 'failed']);
  });
});

describe('the rights to issue', () => {
  test('are those on the profile by its slug and on certificates by their names', async () => {
    const { admin, project, root, profile } = await seedProfile(strongroom);
    const other = await makeProfile(admin, { project, root }, { slug: 'other' });
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      { subject: 'certificate-profiles', action: ['issue-cert'], conditions: { slug: { $eq: 'web' } } },
      { subject: 'certificates', action: ['create', 'read'], conditions: { commonName: { $glob: '*.example.com' } } },
    );
    const send = (profileId: string, commonName: string) =>
      caller.post(`${CERTIFICATES}/issue`, { profileId, subject: { commonName } });
    const { certificate } = mustSucceed(await send(profile.id, 'a.example.com')).body;
    expect(await send(profile.id, 'a.example.org')).toBeError(403, 'PERMISSION_DENIED');
    const named = (value: string) =>
      caller.post(`${CERTIFICATES}/issue`, {
        profileId: profile.id,
        subject: { commonName: 'a.example.com' },
        sans: [
          { kind: 'dns', value: 'b.example.com' },
          { kind: 'dns', value },
        ],
      });
    mustSucceed(await named('C.EXAMPLE.COM'));
    expect(await named('c.example.org')).toBeError(403, 'PERMISSION_DENIED');
    const beyond = await issue(admin, profile.id, {
      subject: { commonName: 'c.example.com' },
      sans: [{ kind: 'dns', value: 'c.example.org' }],
    });
    expect(await caller.post(`${CERTIFICATES}/${beyond.id}/renew`, {})).toBeError(403, 'PERMISSION_DENIED');
    expect(await send(other.id, 'a.example.com')).toBeError(404, 'CERTIFICATE_PROFILE_NOT_FOUND');
    expect(await caller.get(`${PROFILES}/${profile.id}`)).toBeError(403, 'PERMISSION_DENIED');
    const hidden = await issue(admin, profile.id, { subject: { commonName: 'b.example.org' } });
    expect(await caller.post(`${CERTIFICATES}/${hidden.id}/renew`, {})).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    const renewed = mustSucceed(await caller.post(`${CERTIFICATES}/${certificate.id}/renew`, {})).body.certificate;
    const path = `/api/v1/cert-manager/certificate-lineages/${certificate.id}/current`;
    expect(mustSucceed(await caller.get(path)).body.certificate.id).toBe(renewed.id);
    const names = (await requestsOf(caller, project.id)).map(({ commonName }: { commonName: string }) => commonName);
    expect(names).toEqual(['a.example.com', 'c.example.com', 'a.example.com', 'a.example.com']);
    const all = await requestsOf(admin, project.id);
    expect(all).toHaveLength(5);
    const of = all.find(
      ({ issuedCertificateId }: { issuedCertificateId: string }) => issuedCertificateId === hidden.id,
    );
    expect(await caller.get(`${REQUESTS}/${of.id}`)).toBeError(404, 'CERTIFICATE_REQUEST_NOT_FOUND');
    const { caller: reader } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'certificate-profiles',
      action: ['read'],
      conditions: { slug: { $ne: 'web' } },
    });
    const slugs = mustSucceed(await reader.get(`${PROFILES}?projectId=${project.id}`)).body.certificateProfiles;
    expect(slugs.map(({ slug }: { slug: string }) => slug)).toEqual(['other']);
    expect(await reader.get(`${PROFILES}/${profile.id}`)).toBeError(404, 'CERTIFICATE_PROFILE_NOT_FOUND');
    expect(await reader.post(`${CERTIFICATES}/issue`, { profileId: other.id, ...SHOP })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
  });
});

describe('a certificate profile', () => {
  test('is refused when it contradicts itself, with every fault', async () => {
    const { admin, project, root } = await seedProfile(strongroom);
    const bad = {
      ...{ projectId: project.id, slug: 'bad', authorityId: root.id },
      subject: [
        { attribute: 'country', allowed: ['[', 'D*'] },
        { attribute: 'country', allowed: [] },
      ],
    };
    const unreadable = await admin.post(PROFILES, bad);
    expect(pathsOf(unreadable).toSorted()).toEqual(['body.subject', 'body.subject[0].allowed[0]']);
    const odd = {
      ...{ projectId: project.id, slug: 'bad', authorityId: root.id, maxDays: 10, maxPathLength: 1 },
      keyAlgorithms: ['ed25519'],
      keyUsages: { allowed: ['digitalSignature'], required: ['cRLSign'] },
      defaults: { keyAlgorithm: 'ec-p256', keyUsages: ['keyAgreement'], validDays: 11 },
    };
    const reply = await admin.post(PROFILES, odd);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(reply)).toEqual([
      ...['body.defaults.keyAlgorithm', 'body.defaults.keyUsages[0]', 'body.defaults.keyUsages'],
      ...['body.defaults.validDays', 'body.maxPathLength', 'body.keyUsages.required[0]'],
    ]);
    const { admin: stranger, project: theirs, root: other } = await seedProfile(strongroom);
    const foreign = { projectId: project.id, slug: 'x', authorityId: other.id };
    expect(await admin.post(PROFILES, foreign)).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
    expect(await stranger.post(PROFILES, { ...foreign, projectId: theirs.id, slug: 'web' })).toBeError(
      409,
      'CERTIFICATE_PROFILE_SLUG_TAKEN',
    );
  });

  test('changes what is said, keeps the rest, and is not deleted while a certificate of it holds', async () => {
    const { admin, project, root, profile } = await seedProfile(strongroom, { maxDays: 9, renewBeforeDays: 3 });
    const path = `${PROFILES}/${profile.id}`;
    const same = mustSucceed(await admin.patch(path, { maxDays: 9, ca: 'denied' })).body.certificateProfile;
    expect(same).toEqual(profile);
    const changed = mustSucceed(await admin.patch(path, { description: 'd', renewBeforeDays: null })).body
      .certificateProfile;
    expect(changed).toMatchObject({ maxDays: 9, renewBeforeDays: null, description: 'd', version: 2 });
    const stale = { method: 'PATCH', path, headers: { 'if-match': '"nothing"' }, body: { maxDays: 8 } };
    expect((await admin.request(stale)).status).toBe(412);
    const certificate = await issue(admin, profile.id);
    expect(await admin.delete(`${CA}/${root.id}`)).toBeError(409, 'CERTIFICATE_AUTHORITY_IN_USE');
    expect(await admin.delete(path)).toBeError(409, 'CERTIFICATE_PROFILE_IN_USE');
    mustSucceed(await admin.post(`${CERTIFICATES}/${certificate.id}/revoke`, {}));
    mustSucceed(await admin.delete(path));
    const kept = mustSucceed(await admin.get(`${CERTIFICATES}/${certificate.id}`)).body.certificate;
    expect(kept).toMatchObject({ profileId: null, profileSlug: 'web' });
    expect(await admin.post(`${CERTIFICATES}/${certificate.id}/renew`, {})).toBeError(
      409,
      'CERTIFICATE_WITHOUT_PROFILE',
    );
    const list = `${CERTIFICATES}?projectId=${project.id}`;
    const found = async (query: string) => mustSucceed(await admin.get(`${list}&${query}`)).body.certificates.length;
    expect([await found('profileSlug=web'), await found('profileSlug=other')]).toEqual([1, 0]);
  });
});
