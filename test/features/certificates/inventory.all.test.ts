import { randomUUID } from 'node:crypto';
import { factsOf } from '../../../src/features/certificates/x509/facts.js';
import { toPem } from '../../../src/features/certificates/x509/pem.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { type Made, newIntermediate, newLeaf, newRoot } from '../../kit/certificates/material.js';
import { signRequest } from '../../kit/certificates/outside.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CA, CERTIFICATES, importCertificate, makeAuthority, PENDING, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();
let root: Made;
let intermediate: Made;
let leaf: Made;
beforeAll(async () => {
  root = await newRoot();
  intermediate = await newIntermediate(root);
  leaf = await newLeaf(intermediate);
});

/** The certificate with another end of its validity, in UTCTime. Nobody has signed it. */
function changedTime(pem: string, change: (time: string) => string): string {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const utcTime = Buffer.of(0x17, 13);
  const at = der.indexOf(utcTime, der.indexOf(utcTime) + 1) + 2;
  const time = der.toString('latin1', at, at + 13);
  const changed = change(time);
  expect(changed).toMatch(/^\d{12}Z$/);
  expect(changed).not.toBe(time);
  der.write(changed, at, 'latin1');
  return toPem('CERTIFICATE', der);
}

const disclosed = (projectId: string) =>
  strongroom.sql<{ action: string; disclosed: string | null }>(
    `select action, encode(disclosed, 'hex') as disclosed from audit_record where project_id = $1 and action like 'certificate:%' order by sequence`,
    [projectId],
  );

describe('importing a certificate', () => {
  test.each([
    ['the month 13', /^(..)(..)/, '$113'],
    ['the month 0', /^(..)(..)/, '$100'],
    ['the day 32', /^(....)(..)/, '$132'],
    ['February 30', /^(..)(....)/, '$10230'],
    ['the hour 24', /^(......)(..)/, '$124'],
    ['the second 60', /..Z$/, '60Z'],
  ])('is refused with %s in its times', async (_, part, by) => {
    const { admin, project } = await seedProject(strongroom);
    const body = { projectId: project.id, certificate: changedTime(leaf.pem, (time) => time.replace(part, by)) };
    const reply = await admin.post(`${CERTIFICATES}/import`, body);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toMatchObject([{ path: expect.stringMatching(/^body\.certificate/) }]);
  });

  test('shows what it says, and whether its key is here', async () => {
    const { admin, project } = await seedProject(strongroom);
    const metadata = [{ key: 'team', value: 'shop' }];
    const body = { certificate: leaf.pem, chain: root.pem + intermediate.pem, privateKey: leaf.key, metadata };
    const certificate = await importCertificate(admin, project.id, body);
    const { serialNumber, fingerprintSha256, notBefore, notAfter } = factsOf(leaf.certificate);
    expect(certificate).toMatchObject({
      ...{ projectId: project.id, source: 'imported', status: 'active', authorityId: null, profileSlug: null },
      ...{ commonName: 'shop.example.com', serialNumber, fingerprintSha256, keyAlgorithm: 'ec-p256', isCa: false },
      ...{ notBefore: notBefore.toISOString(), notAfter: notAfter.toISOString(), hasPrivateKey: true, metadata },
      ...{ lineageId: certificate.id, renewedFromId: null, revokedAt: null, revocationReason: null, version: 1 },
      sans: ['shop.example.com', '*.example.org', '192.0.2.7', 'ops@example.com', 'https://example.com/shop'],
    });
    const path = `${CERTIFICATES}/${certificate.id}`;
    expect(mustSucceed(await admin.get(path)).body.certificate).toEqual(certificate);
    expect(mustSucceed(await admin.get(`${path}/pem`)).body).toEqual({
      serialNumber,
      certificate: leaf.pem,
      certificateChain: intermediate.pem + root.pem,
    });
    const document = `query ($id: ID!) { certificate(id: $id) { pem chain authority { id } project { id }
      details { subject issuer sans { kind value } keyUsages fingerprintSha1 authorityKeyIdentifier } } }`;
    const shown = (await admin.data(document, { id: certificate.id })).certificate;
    expect(shown).toMatchObject({
      ...{ pem: leaf.pem, authority: null, project: { id: project.id } },
      details: {
        subject: 'CN=shop.example.com',
        issuer: 'O=Example, CN=Intermediate',
        keyUsages: ['digitalSignature'],
      },
    });
    expect(shown.details.sans[2]).toEqual({ kind: 'IP', value: '192.0.2.7' });
  });

  test('takes everything in one text, or a certificate alone, also one of an authority', async () => {
    const { admin, project } = await seedProject(strongroom);
    const whole = await importCertificate(admin, project.id, {
      certificate: leaf.key + root.pem + intermediate.pem + leaf.pem,
    });
    expect(whole).toMatchObject({ commonName: 'shop.example.com', hasPrivateKey: true });
    const alone = await importCertificate(admin, project.id, { certificate: root.pem });
    expect(alone).toMatchObject({ commonName: 'Root', isCa: true, sans: [], hasPrivateKey: false });
  });

  test('replaces another once, by who may edit that one, and joins its lineage', async () => {
    const { admin, project } = await seedProject(strongroom);
    const before = await importCertificate(admin, project.id, { certificate: leaf.pem });
    const stranger = await seedProject(strongroom);
    const elsewhere = await importCertificate(stranger.admin, stranger.project.id, { certificate: leaf.pem });
    const hidden = await importCertificate(admin, project.id, { certificate: root.pem });
    const body = { projectId: project.id, certificate: intermediate.pem };
    const certificates = (action: string[], ...names: string[]) => ({
      subject: 'certificates',
      action,
      conditions: { commonName: { $in: names } },
    });
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      certificates(['read', 'create'], 'shop.example.com', 'Intermediate'),
      certificates(['edit'], 'Intermediate'),
    );
    const path = `${CERTIFICATES}/import`;
    for (const replacesId of [elsewhere.id, hidden.id, randomUUID()])
      expect(await caller.post(path, { ...body, replacesId })).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    expect(await caller.post(path, { ...body, replacesId: before.id })).toBeError(403, 'PERMISSION_DENIED');
    const after = await importCertificate(admin, project.id, { ...body, replacesId: before.id });
    expect(after).toMatchObject({ renewedFromId: before.id, lineageId: before.lineageId, source: 'imported' });
    const { certificate } = await admin.data('query ($id: ID!) { certificate(id: $id) { renewedBy { id } version } }', {
      id: before.id,
    });
    expect(certificate).toEqual({ renewedBy: { id: after.id }, version: 2 });
    const again = { ...body, certificate: (await newLeaf(intermediate)).pem, replacesId: before.id };
    expect(await admin.post(path, again)).toBeError(409, 'CERTIFICATE_RENEWED');
  });

  test('belongs to the authority of the project that issued it, which then cannot be deleted', async () => {
    const { admin, project } = await seedProject(strongroom);
    const pending = await makeAuthority(admin, project.id, PENDING);
    const answer = await signRequest(pending.request);
    mustSucceed(await admin.post(`${CA}/${pending.id}/import-certificate`, { certificate: answer.certificate }));
    const ca = await makeAuthority(admin, project.id);
    const child = await makeAuthority(admin, project.id, { name: 'Below', kind: 'intermediate', parentId: ca.id });
    // As if it had been issued: the certificate of the authority below, which this one signed.
    const certificate = await importCertificate(admin, project.id, { certificate: child.certificate });
    expect(certificate.authorityId).toBe(ca.id);
    mustSucceed(await admin.delete(`${CA}/${child.id}`));
    expect(await admin.delete(`${CA}/${ca.id}`)).toBeError(409, 'CERTIFICATE_AUTHORITY_IN_USE');
    const { project: shown } = await admin.data(
      `query ($id: ID!) { project(id: $id) { certificates { totalCount nodes { authority { name } } } } }`,
      { id: project.id },
    );
    expect(shown.certificates).toEqual({ totalCount: 1, nodes: [{ authority: { name: 'Root' } }] });
  });

  test('is refused for what is wrong, with the place, and for a project of another type', async () => {
    const { admin, project } = await seedProject(strongroom);
    const refusals = [
      [{ certificate: 'nonsense' }, 'body.certificate'],
      [{ certificate: '' }, 'body.certificate'],
      [{ certificate: leaf.pem, privateKey: root.key }, 'body.privateKey'],
      [{ certificate: leaf.pem, chain: (await newRoot('ec-p256', 'Other')).pem }, 'body.certificate'],
      [{ certificate: leaf.pem + ' '.repeat(65_536) }, 'body.certificate'],
      [
        {
          certificate: leaf.pem,
          metadata: [
            { key: 'a', value: '' },
            { key: 'a', value: 'b' },
          ],
        },
        'body.metadata',
      ],
    ] as const;
    for (const [body, path] of refusals) {
      const reply = await admin.post(`${CERTIFICATES}/import`, { projectId: project.id, ...body });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toMatchObject([{ path }]);
      expect(reply.text).not.toMatch(/BEGIN (EC|PRIVATE)|nonsense|MIG/);
    }
    const secrets = await strongroom.seed.projectOf(admin);
    const reply = await admin.post(`${CERTIFICATES}/import`, { projectId: secrets.id, certificate: leaf.pem });
    expect(reply.body.details).toMatchObject([{ path: 'body.projectId', code: 'WRONG_PROJECT_TYPE' }]);
    const { admin: stranger } = await seedProject(strongroom);
    const hidden = await stranger.post(`${CERTIFICATES}/import`, { projectId: project.id, certificate: leaf.pem });
    expect(hidden).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('of one certificate a hundred times at once is done once', async () => {
    const { admin, project } = await seedProject(strongroom);
    const body = { projectId: project.id, certificate: leaf.pem, privateKey: leaf.key };
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => admin.patient.post(`${CERTIFICATES}/import`, body)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200))
      expect(reply).toBeError(409, 'CERTIFICATE_EXISTS');
    const { project: other } = await seedProject(strongroom).then(async ({ admin: second, project: made }) => {
      await importCertificate(second, made.id, { certificate: leaf.pem });
      return { project: made };
    });
    expect(other.id).not.toBe(project.id);
  });
});

describe('reading a private key', () => {
  test('needs its own right, discloses it, and no other reply has it', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await importCertificate(admin, project.id, { certificate: leaf.pem, privateKey: leaf.key });
    const path = `${CERTIFICATES}/${id}`;
    const reply = mustSucceed(await admin.get(`${path}/private-key`));
    expect(reply.body).toEqual({ certificateId: id, privateKey: leaf.key });
    expect(reply.headers['cache-control']).toBe('no-store');
    expect((await disclosed(project.id)).map(({ action, disclosed: ids }) => [action, ids])).toEqual([
      ['certificate:import', null],
      ['certificate:read-private-key', id.replaceAll('-', '')],
    ]);
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'certificates',
      action: ['read', 'create', 'edit', 'delete'],
    });
    mustSucceed(await caller.get(path));
    expect(await caller.get(`${path}/private-key`)).toBeError(403, 'PERMISSION_DENIED');
    const without = await importCertificate(admin, project.id, { certificate: root.pem });
    expect(await admin.get(`${CERTIFICATES}/${without.id}/private-key`)).toBeError(404, 'CERTIFICATE_KEY_NOT_FOUND');
  });

  test('opens only what was sealed for the certificate', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await importCertificate(admin, project.id, { certificate: leaf.pem, privateKey: leaf.key });
    const other = await importCertificate(admin, project.id, { certificate: root.pem, privateKey: root.key });
    await strongroom.sql(
      'update certificate set key_sealed = (select key_sealed from certificate where id = $2) where id = $1',
      [id, other.id],
    );
    expect(await admin.get(`${CERTIFICATES}/${id}/private-key`)).toBeError(503, 'SEALED_VALUE_INVALID');
    mustSucceed(await admin.get(`${CERTIFICATES}/${other.id}/private-key`));
  });
});

describe('changing certificates', () => {
  test('edits metadata, revokes once with a reason, and deletes', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await importCertificate(admin, project.id, { certificate: leaf.pem, privateKey: leaf.key });
    const path = `${CERTIFICATES}/${id}`;
    const metadata = [{ key: 'team', value: 'shop' }];
    expect(mustSucceed(await admin.patch(path, { metadata })).body.certificate).toMatchObject({ metadata, version: 2 });
    expect(mustSucceed(await admin.patch(path, { metadata })).body.certificate.version).toBe(2);
    expect(mustSucceed(await admin.patch(path, {})).body.certificate).toMatchObject({ metadata, version: 2 });
    expect(await admin.patch(path, { metadata: [] }, { 'if-match': '"old"' })).toBeError(412, 'PRECONDITION_FAILED');
    expect(await admin.post(`${path}/revoke`, { reason: 'whim' })).toBeError(422, 'VALIDATION_FAILED');
    const revoked = mustSucceed(await admin.post(`${path}/revoke`, { reason: 'keyCompromise' })).body.certificate;
    expect(revoked).toMatchObject({ status: 'revoked', revocationReason: 'keyCompromise', version: 3 });
    expect(Date.parse(revoked.revokedAt)).not.toBeNaN();
    expect(await admin.post(`${path}/revoke`, {})).toBeError(409, 'CERTIFICATE_REVOKED');
    expect(mustSucceed(await admin.delete(path)).body.certificate).toEqual(revoked);
    expect(await admin.get(path)).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    // What was deleted can be imported again.
    await importCertificate(admin, project.id, { certificate: leaf.pem });
  });

  test('needs the right to each operation, and strangers know of none', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await importCertificate(admin, project.id, { certificate: leaf.pem, privateKey: leaf.key });
    const path = `${CERTIFICATES}/${id}`;
    const ask = (caller: Caller) => ({
      read: () => caller.get(path),
      list: () => caller.get(`${CERTIFICATES}?projectId=${project.id}`),
      create: () => caller.post(`${CERTIFICATES}/import`, { projectId: project.id, certificate: root.pem }),
      edit: () => caller.patch(path, { metadata: [] }),
      revoke: () => caller.post(`${path}/revoke`, {}),
      'read-private-key': () => caller.get(`${path}/private-key`),
      delete: () => caller.delete(path),
    });
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    for (const send of Object.values(ask(viewer))) expect(await send()).toBeError(403, 'PERMISSION_DENIED');
    const { admin: stranger } = await seedProject(strongroom);
    for (const [name, send] of Object.entries(ask(stranger))) {
      const isOfProject = name === 'list' || name === 'create';
      expect(await send()).toBeError(404, isOfProject ? 'PROJECT_NOT_FOUND' : 'CERTIFICATE_NOT_FOUND');
    }
    expect(await admin.get(`${CERTIFICATES}/${randomUUID()}`)).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    expect(await admin.get(`${CERTIFICATES}/nope`)).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    for (const action of ['read', 'create', 'edit', 'read-private-key', 'delete'] as const) {
      const { caller } = await callerWithRules(strongroom, admin, project.id, { subject: 'certificates', action });
      for (const [name, send] of Object.entries(ask(caller))) {
        const needed = { list: 'read', revoke: 'edit' }[name] ?? name;
        expect([action, name, (await send()).status]).toEqual([action, name, needed === action ? 200 : 403]);
      }
    }
  });

  test('goes with the project', async () => {
    const { admin, project } = await seedProject(strongroom);
    const ca = await makeAuthority(admin, project.id);
    await importCertificate(admin, project.id, { certificate: ca.certificate });
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    expect(await strongroom.sql('select from certificate where project_id = $1', [project.id])).toEqual([]);
  });
});

describe('rights on common names', () => {
  test('show and count what they allow, and hide the rest', async () => {
    const { admin, project } = await seedProject(strongroom);
    const shop = await importCertificate(admin, project.id, { certificate: leaf.pem, privateKey: leaf.key });
    const hidden = await importCertificate(admin, project.id, { certificate: root.pem, privateKey: root.key });
    const { caller } = await callerWithRules(
      strongroom,
      admin,
      project.id,
      {
        subject: 'certificates',
        action: ['read', 'edit', 'delete', 'create'],
        conditions: { commonName: { $glob: '*.example.com' } },
      },
      { subject: 'certificates', action: 'read-private-key', conditions: { commonName: { $eq: 'other' } } },
    );
    const document = `query ($id: ID!, $ids: [ID!]!) { nodes(ids: $ids) { id }
      certificates(projectId: $id) { totalCount nodes { id } }
      project(id: $id) { found: certificates(search: "SHOP") { nodes { id } } certificates(first: 1) { totalCount nodes { id } pageInfo { hasNextPage } } } }`;
    const data = await caller.data(document, { id: project.id, ids: [shop.id, hidden.id] });
    expect(data.certificates).toEqual({ totalCount: 1, nodes: [{ id: shop.id }] });
    expect(data.project.found.nodes).toEqual([{ id: shop.id }]);
    expect(data.project.certificates).toMatchObject({
      ...data.certificates,
      pageInfo: { hasNextPage: false },
    });
    expect(data.nodes).toEqual([{ id: shop.id }, null]);
    const path = `${CERTIFICATES}/${hidden.id}`;
    expect(await caller.get(path)).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    expect(await caller.get(`${path}/private-key`)).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    expect(await caller.delete(path)).toBeError(404, 'CERTIFICATE_NOT_FOUND');
    expect(await caller.get(`${CERTIFICATES}/${shop.id}/private-key`)).toBeError(403, 'PERMISSION_DENIED');
    mustSucceed(await caller.post(`${CERTIFICATES}/${shop.id}/revoke`, {}));
    const refused = await caller.post(`${CERTIFICATES}/import`, {
      projectId: project.id,
      certificate: intermediate.pem,
    });
    expect(refused).toBeError(403, 'PERMISSION_DENIED');
  });
});

describe('the list of certificates', () => {
  test('is by expiry, searched, filtered, and in pages', async () => {
    const { admin, project } = await seedProject(strongroom);
    const made: Record<string, Made> = {};
    for (const [name, lastsDays] of [
      ['c', 30],
      ['a', 10],
      ['b_1', 20],
    ] as const) {
      made[name] = await newLeaf(root, { commonName: `${name}.example.net`, lastsDays });
      await importCertificate(admin, project.id, { certificate: (made[name] as Made).pem });
    }
    const list = async (query: Record<string, string> = {}) => {
      const params = new URLSearchParams({ projectId: project.id, ...query });
      const { body } = mustSucceed(await admin.get(`${CERTIFICATES}?${params}`));
      const names = body.certificates
        .map(({ commonName }: { commonName: string }) => commonName.split('.')[0])
        .join(' ');
      return { names, ...body };
    };
    expect((await list()).names).toBe('a b_1 c');
    const page = await list({ limit: '2' });
    expect(page.names).toBe('a b_1');
    expect((await list({ limit: '2', cursor: page.nextCursor })).names).toBe('c');
    expect((await list({ search: 'B_' })).names).toBe('b_1');
    expect((await list({ search: '%' })).names).toBe('');
    expect((await list({ search: 'OPS@example' })).names).toBe('a b_1 c');
    const serial = factsOf((made.c as Made).certificate).serialNumber;
    expect((await list({ search: serial.toLowerCase() })).names).toBe('c');
    expect((await list({ search: serial.replace(/..(?!$)/g, '$&:') })).names).toBe('c');
    const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
    expect((await list({ expiresBefore: inDays(25) })).names).toBe('a b_1');
    expect((await list({ expiresAfter: inDays(15), expiresBefore: inDays(25) })).names).toBe('b_1');
    const { id: authorityId } = await makeAuthority(admin, project.id);
    expect((await list({ authorityId })).names).toBe('');
    for (const id of [randomUUID(), 'nope']) {
      const reply = await admin.get(`${CERTIFICATES}?projectId=${project.id}&authorityId=${id}`);
      expect(reply).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
    }
    const [first] = (await list()).certificates;
    mustSucceed(await admin.post(`${CERTIFICATES}/${first.id}/revoke`, {}));
    expect((await list({ status: 'revoked' })).names).toBe('a');
    expect((await list({ status: 'active' })).names).toBe('b_1 c');
    const bad = await admin.get(`${CERTIFICATES}?projectId=${project.id}&expiresBefore=tomorrow&status=odd`);
    expect(bad).toBeError(422, 'VALIDATION_FAILED');
    expect(bad.body.details).toHaveLength(2);
  });
});

test('the certificate of an authority is revoked by who may edit authorities alone', async () => {
  const { admin, project } = await seedProject(strongroom);
  const root = await makeAuthority(admin, project.id);
  const below = { kind: 'intermediate', name: 'Below', parentId: root.id, subject: { commonName: 'Below' } };
  const child = await makeAuthority(admin, project.id, below);
  const action = ['create', 'read', 'edit'];
  const { caller, change } = await callerWithRules(strongroom, admin, project.id, { subject: 'certificates', action });
  const { id } = await importCertificate(caller, project.id, { certificate: child.certificate });
  const revoke = () => caller.post(`${CERTIFICATES}/${id}/revoke`, {});
  expect(await revoke()).toBeError(403, 'PERMISSION_DENIED');
  expect(mustSucceed(await caller.get(`${CERTIFICATES}/${id}`)).body.certificate.status).toBe('active');
  await change({ subject: 'certificates', action }, { subject: 'certificate-authorities', action: 'edit' });
  mustSucceed(await revoke());
});
