import 'reflect-metadata';
import { randomUUID, X509Certificate } from 'node:crypto';
import { Extension, Pkcs10CertificateRequest } from '@peculiar/x509';
import { factsOf } from '../../../src/features/certificates/x509/facts.js';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { signRequest } from '../../kit/certificates/outside.js';
import { callerWithRules } from '../../kit/rules.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CA, makeAuthority, PENDING, ROOT, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();
const DAY = 86_400_000;
const HOLES = new Extension('2.5.29.30', true, Buffer.from('300ea00c300a87080a000000ff00ff00', 'hex'));
const lifeOf = ({ notBefore, notAfter }: Record<string, string>): number =>
  (Date.parse(notAfter as string) - Date.parse(notBefore as string)) / DAY;

describe('creating a certificate authority', () => {
  test('of the kind root makes a key and a certificate that it signs itself', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id, { maxPathLength: 2, keyAlgorithm: 'ec-p384' });
    expect(root).toMatchObject({
      ...{ name: 'Root', kind: 'root', status: 'active', parentId: null, projectId: project.id, version: 1 },
      ...{ subject: 'O=Example, CN=Example Root', commonName: 'Example Root', chain: '', request: null },
    });
    const certificate = new X509Certificate(root.certificate);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(factsOf(certificate)).toMatchObject({
      ...{ isCa: true, pathLength: 2, keyAlgorithm: 'ec-p384', serialNumber: root.serialNumber },
      ...{ notBefore: new Date(root.notBefore), notAfter: new Date(root.notAfter) },
    });
    expect(lifeOf(root)).toBe(3_650);
    expect(mustSucceed(await admin.get(`${CA}/${root.id}`)).body.certificateAuthority).toEqual(root);
  });

  test('below another one is signed by that, has its chain, and no longer life and path', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id, { maxPathLength: 1, validDays: 100 });
    const below = { kind: 'intermediate', parentId: root.id, subject: { commonName: 'Below' } };
    const child = await makeAuthority(admin, project.id, { ...below, name: 'Below', keyAlgorithm: 'rsa-2048' });
    expect(child).toMatchObject({ parentId: root.id, chain: root.certificate, maxPathLength: 0, status: 'active' });
    expect(child.notAfter).toBe(root.notAfter);
    const [certificate, issuer] = [new X509Certificate(child.certificate), new X509Certificate(root.certificate)];
    expect([certificate.checkIssued(issuer), certificate.verify(issuer.publicKey)]).toEqual([true, true]);
    const short = await makeAuthority(admin, project.id, { ...below, name: 'Short', validDays: 30 });
    expect(lifeOf(short)).toBe(30);
    const refused = [
      [{ validDays: 101 }, 'body.validDays'],
      [{ maxPathLength: 1 }, 'body.maxPathLength'],
      [{ parentId: child.id }, 'body.parentId'],
      [{ kind: 'root' }, 'body.parentId'],
    ] as const;
    for (const [change, path] of refused) {
      const reply = await admin.post(CA, { ...ROOT, ...below, name: 'No', projectId: project.id, ...change });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toMatchObject([{ path }]);
    }
  });

  test('with name constraints has them in its certificate, and refuses those below that lie beyond them', async () => {
    const { admin, project } = await seedProject(strongroom);
    const nameConstraints = {
      permitted: [
        { kind: 'dns', value: 'example.com' },
        { kind: 'ip', value: '10.0.0.0/8' },
      ],
      excluded: [{ kind: 'email', value: '.example.org' }],
    };
    const root = await makeAuthority(admin, project.id, { nameConstraints });
    expect(root.nameConstraints).toEqual(nameConstraints);
    expect((await makeAuthority(admin, project.id, { name: 'Free' })).nameConstraints).toBeNull();
    const below = { ...ROOT, kind: 'intermediate', parentId: root.id, projectId: project.id };
    const permitted = ['a.example.com', 'example.org', 'example.net'].map((value) => ({ kind: 'dns', value }));
    const beyond = await admin.post(CA, { ...below, name: 'Beyond', nameConstraints: { permitted } });
    expect(beyond).toBeError(422, 'VALIDATION_FAILED');
    const place = 'body.nameConstraints.permitted';
    expect(beyond.body.details).toMatchObject([{ path: `${place}.1.value` }, { path: `${place}.2.value` }]);
    const wrong = [
      ...(['*.example.com', '.example.com', 'a..b'].map((value) => ({ kind: 'dns', value })) as object[]),
      ...[
        { kind: 'ip', value: '10.0.0.1' },
        { kind: 'email', value: 'a@b@c' },
        { kind: 'uri', value: 'https://x' },
      ],
    ];
    const refused = await admin.post(CA, {
      ...below,
      name: 'Wrong',
      nameConstraints: { permitted: wrong, excluded: wrong },
    });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details).toHaveLength(2 * wrong.length);
  });

  test('is refused for a name that is taken, for a project of another type, and for a parent that is not there', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    expect(await admin.post(CA, { ...ROOT, projectId: project.id })).toBeError(409, 'CERTIFICATE_AUTHORITY_NAME_TAKEN');
    const secrets = await strongroom.seed.projectOf(admin);
    const reply = await admin.post(CA, { ...ROOT, projectId: secrets.id });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toMatchObject([{ path: 'body.projectId', code: 'WRONG_PROJECT_TYPE' }]);
    const { admin: stranger, project: other } = await seedProject(strongroom);
    for (const parentId of [randomUUID(), 'nope', root.id]) {
      const below = { ...ROOT, kind: 'intermediate', parentId, projectId: other.id };
      expect(await stranger.post(CA, below)).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
    }
    expect(await stranger.post(CA, { ...ROOT, projectId: project.id })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('is refused below one that is pending, disabled or expired', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    const pending = await makeAuthority(admin, project.id, PENDING);
    const below = (parentId: string) =>
      admin.post(CA, { ...ROOT, name: 'Below', kind: 'intermediate', projectId: project.id, parentId });
    expect(await below(pending.id)).toBeError(409, 'CERTIFICATE_AUTHORITY_PENDING');
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
    expect(await below(root.id)).toBeError(409, 'CERTIFICATE_AUTHORITY_DISABLED');
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'active' }));
    await strongroom.sql('update certificate_authority set not_after = now() where id = $1', [root.id]);
    expect(await below(root.id)).toBeError(409, 'CERTIFICATE_AUTHORITY_EXPIRED');
  });

  test('stores its key sealed for itself: that of another one is not used in its place', async () => {
    const { admin, project } = await seedProject(strongroom);
    const [first, second] = [
      await makeAuthority(admin, project.id),
      await makeAuthority(admin, project.id, { name: 'Second' }),
    ];
    const [row] = await strongroom.sql<{ text: string }>(
      `select encode(key_sealed, 'escape') || t::text as text from certificate_authority t where id = $1`,
      [first.id],
    );
    expect(row?.text).not.toMatch(/PRIVATE KEY|MIG|MHcC/);
    await strongroom.sql(
      'update certificate_authority set key_sealed = (select key_sealed from certificate_authority where id = $2) where id = $1',
      [first.id, second.id],
    );
    const below = { ...ROOT, name: 'Below', kind: 'intermediate', parentId: first.id, projectId: project.id };
    expect(await admin.post(CA, below)).toBeError(503, 'SEALED_VALUE_INVALID');
  });
});

describe('an authority below one outside', () => {
  test('gives its request out, and takes certificate and chain in whatever order', async () => {
    const { admin, project } = await seedProject(strongroom);
    const pending = await makeAuthority(admin, project.id, PENDING);
    expect(pending).toMatchObject({ status: 'pending', certificate: null, notAfter: null, serialNumber: null });
    expect(new Pkcs10CertificateRequest(pending.request).subject).toBe('CN=Example Pending');
    const { certificate, root } = await signRequest(pending.request);
    const path = `${CA}/${pending.id}/import-certificate`;
    const { certificateAuthority } = mustSucceed(await admin.post(path, { certificate: root + certificate })).body;
    expect(certificateAuthority).toMatchObject({
      ...{ status: 'active', kind: 'intermediate', parentId: null, request: null, certificate, chain: root },
      ...{ version: 2, maxPathLength: 0, subject: 'CN=Example Pending' },
      serialNumber: new X509Certificate(certificate).serialNumber,
    });
    const again = await admin.post(path, { certificate, chain: root });
    expect(again).toBeError(409, 'CERTIFICATE_AUTHORITY_NOT_PENDING');
    const below = { name: 'Below', kind: 'intermediate', parentId: pending.id, subject: { commonName: 'Below' } };
    const refused = await admin.post(CA, { ...below, projectId: project.id });
    expect(refused.body.details).toMatchObject([{ path: 'body.parentId' }]);
  });

  test('refuses an answer with another key, without the CA flag, expired, or below issuers that do not allow it', async () => {
    const { admin, project } = await seedProject(strongroom);
    const pending = await makeAuthority(admin, project.id, PENDING);
    const other = await makeAuthority(admin, project.id, { ...PENDING, name: 'Other' });
    const answers = [
      [await signRequest(other.request), 'body.certificate', /key of the request/],
      [await signRequest(pending.request, { isCa: false }), 'body.certificate', /CA:TRUE/],
      [await signRequest(pending.request, { usage: 'none' }), 'body.certificate', /keyCertSign/],
      [await signRequest(pending.request, { lastsDays: 0 }), 'body.certificate', /expired/],
      [await signRequest(pending.request, { rootPathLength: 0 }), 'body.chain', /pathlen/],
      // Of 10.0.0.0 with the mask 255.0.255.0: what lies within that nobody could tell.
      [await signRequest(pending.request, { extensions: [HOLES] }), 'body.certificate', /name constraints/],
    ] as const;
    for (const [{ certificate, root }, path, message] of answers) {
      const reply = await admin.post(`${CA}/${pending.id}/import-certificate`, { certificate, chain: root });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toMatchObject([{ path, message: expect.stringMatching(message) }]);
    }
    const { key, certificate } = await signRequest(pending.request);
    for (const text of ['nonsense', `${certificate}${key}`, 'x'.repeat(70_000)])
      expect(await admin.post(`${CA}/${pending.id}/import-certificate`, { certificate: text })).toBeError(
        422,
        'VALIDATION_FAILED',
      );
    const { certificateAuthority } = mustSucceed(await admin.get(`${CA}/${pending.id}`)).body;
    expect(certificateAuthority).toEqual(pending);
  });
});

describe('changing and deleting certificate authorities', () => {
  test('renames, disables and enables, and counts versions', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    const pending = await makeAuthority(admin, project.id, PENDING);
    const change = async (body: object, headers = {}) => admin.patch(`${CA}/${root.id}`, body, headers);
    expect((await change({ name: 'Other', status: 'disabled' })).body.certificateAuthority).toMatchObject({
      ...{ name: 'Other', status: 'disabled', version: 2, certificate: root.certificate },
    });
    expect((await change({ name: 'Other' })).body.certificateAuthority.version).toBe(2);
    expect(await change({ name: 'Pending' })).toBeError(409, 'CERTIFICATE_AUTHORITY_NAME_TAKEN');
    expect(await change({ status: 'pending' })).toBeError(422, 'VALIDATION_FAILED');
    expect(await change({ name: 'X' }, { 'if-match': '"old"' })).toBeError(412, 'PRECONDITION_FAILED');
    const { headers } = await admin.get(`${CA}/${root.id}`);
    mustSucceed(await change({ status: 'active' }, { 'if-match': String(headers.etag) }));
    expect(await admin.patch(`${CA}/${pending.id}`, { status: 'active' })).toBeError(
      409,
      'CERTIFICATE_AUTHORITY_PENDING',
    );
  });

  test('is refused while authorities are below it', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    const child = await makeAuthority(admin, project.id, { name: 'Below', kind: 'intermediate', parentId: root.id });
    expect(await admin.delete(`${CA}/${root.id}`)).toBeError(409, 'CERTIFICATE_AUTHORITY_IN_USE');
    expect(mustSucceed(await admin.delete(`${CA}/${child.id}`)).body.certificateAuthority).toEqual(child);
    mustSucceed(await admin.delete(`${CA}/${root.id}`));
    expect(await admin.get(`${CA}/${root.id}`)).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
  });

  test('goes with the project, whatever is below what', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    await makeAuthority(admin, project.id, { name: 'Below', kind: 'intermediate', parentId: root.id });
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    expect(await strongroom.sql('select from certificate_authority where project_id = $1', [project.id])).toEqual([]);
  });
});

describe('reading certificate authorities', () => {
  test('lists those of a project by name, in pages, and below projects', async () => {
    const { admin, project } = await seedProject(strongroom);
    for (const name of ['b', 'C', 'a']) await makeAuthority(admin, project.id, { name });
    const list = async (query = '') => mustSucceed(await admin.get(`${CA}?projectId=${project.id}${query}`)).body;
    const names = (rows: readonly { name: string }[]): string => rows.map(({ name }) => name).join('');
    expect(names((await list()).certificateAuthorities)).toBe('Cab');
    const page = await list('&limit=2');
    expect(names(page.certificateAuthorities)).toBe('Ca');
    expect(names((await list(`&limit=2&cursor=${page.nextCursor}`)).certificateAuthorities)).toBe('b');
    const document = `query ($id: ID!) { project(id: $id) { certificateAuthorities { nodes { name project { id } } } }
      certificateAuthorities(projectId: $id) { totalCount } }`;
    const data = await admin.data(document, { id: project.id });
    expect(names(data.project.certificateAuthorities.nodes)).toBe('Cab');
    expect(data.certificateAuthorities.totalCount).toBe(3);
  });

  test('needs the right to each operation, and strangers know of none', async () => {
    const { admin, project } = await seedProject(strongroom);
    const { id } = await makeAuthority(admin, project.id);
    const ask = (caller: Caller) => ({
      read: () => caller.get(`${CA}/${id}`),
      list: () => caller.get(`${CA}?projectId=${project.id}`),
      create: () => caller.post(CA, { ...PENDING, projectId: project.id }),
      edit: () => caller.patch(`${CA}/${id}`, { status: 'disabled' }),
      delete: () => caller.delete(`${CA}/${id}`),
    });
    for (const role of ['viewer', 'member', 'no-access']) {
      const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [role] });
      for (const send of Object.values(ask(caller))) expect(await send()).toBeError(403, 'PERMISSION_DENIED');
    }
    for (const action of ['read', 'create', 'edit', 'delete'] as const) {
      const rule = { subject: 'certificate-authorities', action };
      const { caller } = await callerWithRules(strongroom, admin, project.id, rule);
      for (const [name, send] of Object.entries(ask(caller))) {
        const isAllowed = name === action || (name === 'list' && action === 'read');
        expect([action, name, (await send()).status]).toEqual([action, name, isAllowed ? 200 : 403]);
      }
    }
    const { admin: stranger } = await seedProject(strongroom);
    const { id: hidden } = await makeAuthority(admin, project.id, { name: 'Hidden' });
    for (const path of [`${CA}/${hidden}`, `${CA}/${randomUUID()}`, `${CA}/nope`]) {
      expect(await stranger.get(path)).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
      expect(await stranger.patch(path, { name: 'x' })).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
      expect(await stranger.delete(path)).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
      const answer = await stranger.post(`${path}/import-certificate`, { certificate: 'x' });
      expect(answer).toBeError(404, 'CERTIFICATE_AUTHORITY_NOT_FOUND');
    }
  });
});
