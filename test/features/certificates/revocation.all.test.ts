import 'reflect-metadata';
import { randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { X509Crl } from '@peculiar/x509';
import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useOpenssl } from '../../kit/certificates/openssl.js';
import { describeWith } from '../../kit/describe-with.js';
import { useMovedStrongroom } from '../../kit/strongroom.js';
import { CA, CERTIFICATES, importCertificate, makeAuthority, PENDING, seedProject } from './kit.js';

const DAY_SECONDS = 86_400;
const PUBLIC_URL = 'http://pki.example.com/certs';
const strongroom = useMovedStrongroom();

// biome-ignore lint/suspicious/noExplicitAny: as replies have it
type Authority = any;
type Body = Readonly<Record<string, unknown>>;

const fetchPki = (authority: { id: string }, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${strongroom.url}/pki/${authority.id}/${path}`, init);
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

/** The list of an authority, as it is served now. */
async function listOf(authority: Authority) {
  const response = await fetchPki(authority, 'crl');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pkix-crl']);
  const der = await bytesOf(response);
  const crl = new X509Crl(der);
  const number = Buffer.from(crl.extensions.find(({ type }) => type === '2.5.29.20')?.value as ArrayBuffer);
  return {
    ...{ der, etag: response.headers.get('etag') as string, number: number.readUIntBE(2, number.length - 2) },
    ...{ thisUpdate: crl.thisUpdate, nextUpdate: crl.nextUpdate as Date },
    entries: crl.entries.map(({ serialNumber, reason }) => [serialNumber.toUpperCase(), reason]),
  };
}

/** A root, and authorities below it that it has issued. */
async function seedFamily(count = 2, root: Body = {}, below: Body = {}, node = strongroom.url) {
  const seeded = await seedProject(strongroom);
  const { project } = seeded;
  const admin = seeded.admin.at(node);
  const parent = await makeAuthority(admin, project.id, root);
  const children: Authority[] = [];
  for (let at = 0; at < count; at += 1)
    children.push(
      await makeAuthority(admin, project.id, {
        ...{ name: `Below ${at}`, kind: 'intermediate', parentId: parent.id, subject: { commonName: `Below ${at}` } },
        ...below,
      }),
    );
  return { admin, project, root: parent, children };
}

const revoke = async (admin: Caller, authority: Authority, reason = 'keyCompromise'): Promise<Authority> =>
  mustSucceed(await admin.post(`${CA}/${authority.id}/revoke`, { reason })).body.certificateAuthority;

describe('the revocation list of an authority', () => {
  test('is empty first, has what is revoked with its reason, and is signed again only then', async () => {
    const { admin, root, children } = await seedFamily();
    const first = await listOf(root);
    expect(first).toMatchObject({ number: 1, entries: [] });
    expect(first.nextUpdate.getTime() - first.thisUpdate.getTime()).toBe(7 * DAY_SECONDS * 1_000);
    expect((await listOf(root)).der).toEqual(first.der);
    const kept = await fetchPki(root, 'crl', { headers: { 'if-none-match': first.etag } });
    expect([kept.status, kept.headers.get('cache-control')]).toEqual([304, 'public, max-age=300']);

    const revoked = await revoke(admin, children[0]);
    expect(revoked).toMatchObject({ status: 'disabled', revocationReason: 'keyCompromise', version: 2 });
    const second = await listOf(root);
    // 1: the key is compromised.
    expect(second).toMatchObject({ number: 2, entries: [[children[0].serialNumber, 1]] });
    expect(second.etag).not.toBe(first.etag);
    await revoke(admin, children[1], 'unspecified');
    expect((await listOf(root)).entries).toHaveLength(2);
  });

  test('is signed once for a hundred callers who come together', async () => {
    const { admin, root, children } = await seedFamily();
    await listOf(root);
    await revoke(admin, children[0]);
    const lists = await Promise.all(Array.from({ length: 100 }, () => listOf(root)));
    expect(new Set(lists.map(({ etag }) => etag)).size).toBe(1);
    expect(lists[0]).toMatchObject({ number: 2, entries: [[children[0].serialNumber, 1]] });
  });

  test('has certificates that were imported, also when they are deleted; one that comes back is revoked', async () => {
    const { admin, project, root, children } = await seedFamily();
    const imported = await importCertificate(admin, project.id, { certificate: children[0].certificate });
    expect(imported.authorityId).toBe(root.id);
    mustSucceed(await admin.post(`${CERTIFICATES}/${imported.id}/revoke`, { reason: 'superseded' }));
    mustSucceed(await admin.delete(`${CERTIFICATES}/${imported.id}`));
    expect((await listOf(root)).entries).toEqual([[children[0].serialNumber, 4]]);
    const again = await importCertificate(admin, project.id, { certificate: children[0].certificate });
    expect(again).toMatchObject({ status: 'revoked', revocationReason: 'superseded' });
  });

  test('is signed again before it ends, and loses what has expired', async () => {
    const { admin, root, children } = await seedFamily(1, {}, { validDays: 5 });
    await revoke(admin, children[0]);
    expect(await listOf(root)).toMatchObject({ number: 1, entries: [[children[0].serialNumber, 1]] });
    await strongroom.advanceClock(5 * DAY_SECONDS);
    expect((await listOf(root)).number).toBe(1);
    await strongroom.advanceClock(1.5 * DAY_SECONDS);
    // Expired, and one more list has it.
    expect(await listOf(root)).toMatchObject({ number: 2, entries: [[children[0].serialNumber, 1]] });
    await strongroom.advanceClock(6.5 * DAY_SECONDS);
    expect(await listOf(root)).toMatchObject({ number: 3, entries: [] });
  });

  test('can be had as PEM, and so can the certificate of the authority', async () => {
    const { root } = await seedFamily(0);
    expect(await (await fetchPki(root, 'crl?format=pem')).text()).toMatch(/^-----BEGIN X509 CRL-----\n/);
    const certificate = await fetchPki(root, 'certificate');
    expect(certificate.headers.get('content-type')).toBe('application/pkix-cert');
    expect(await bytesOf(certificate)).toEqual(new X509Certificate(root.certificate).raw);
    expect(await (await fetchPki(root, 'certificate?format=pem')).text()).toBe(root.certificate);
  });

  test('is not there for an authority that is unknown, or waits for its certificate', async () => {
    const { admin, project } = await seedProject(strongroom);
    const pending = await makeAuthority(admin, project.id, PENDING);
    const answers: unknown[] = [];
    for (const id of [randomUUID(), 'nope', pending.id])
      for (const path of ['crl', 'certificate', 'ocsp/AAAA']) {
        const response = await fetchPki({ id }, path);
        const { reqId: _, ...body } = (await response.json()) as Record<string, unknown>;
        answers.push([response.status, body]);
      }
    expect(answers[0]).toMatchObject([404, { code: 'CERTIFICATE_AUTHORITY_NOT_FOUND' }]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});

describe('revoking the certificate of an authority', () => {
  test('is for ever, and not for one that no authority of the project has issued', async () => {
    const { admin, project, root, children } = await seedFamily(1);
    expect(await admin.post(`${CA}/${root.id}/revoke`, {})).toBeError(409, 'CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE');
    await revoke(admin, children[0]);
    expect(await admin.post(`${CA}/${children[0].id}/revoke`, {})).toBeError(409, 'CERTIFICATE_AUTHORITY_REVOKED');
    const enabled = await admin.patch(`${CA}/${children[0].id}`, { status: 'active' });
    expect(enabled).toBeError(409, 'CERTIFICATE_AUTHORITY_REVOKED');
    const below = { kind: 'intermediate', name: 'Below', subject: { commonName: 'B' }, keyAlgorithm: 'ec-p256' };
    const issued = await admin.post(CA, { ...below, projectId: project.id, parentId: children[0].id });
    expect(issued).toBeError(409, 'CERTIFICATE_AUTHORITY_REVOKED');
  });

  test('ends what the authorities below it issue', async () => {
    const { admin, project, children } = await seedFamily(1);
    const make = (parentId: string) => ({
      ...{ projectId: project.id, kind: 'intermediate', parentId, name: parentId, subject: { commonName: 'B' } },
    });
    const below = await makeAuthority(admin, project.id, make(children[0].id));
    const last = await makeAuthority(admin, project.id, make(below.id));
    await revoke(admin, children[0]);
    expect(await admin.post(CA, make(last.id))).toBeError(409, 'CERTIFICATE_AUTHORITY_REVOKED');
  });
});

describeWith(['openssl'], 'what an authority publishes', () => {
  const openssl = useOpenssl();

  test('is what openssl checks certificates with, also when the authority is disabled', async () => {
    for (const keyAlgorithm of ['rsa-2048', 'ec-p256', 'ec-p384', 'ed25519']) {
      const { admin, root, children } = await seedFamily(2, { keyAlgorithm });
      const [good, revoked] = children;
      await revoke(admin, revoked);
      mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
      const ca = openssl.file('ca', root.certificate);
      const crl = openssl.file('crl', await (await fetchPki(root, 'crl?format=pem')).text());
      const verify = ({ certificate }: Authority) =>
        openssl.run(
          'verify',
          '-x509_strict',
          '-crl_check',
          '-CAfile',
          ca,
          '-CRLfile',
          crl,
          openssl.file('c', certificate),
        );
      expect((await verify(good)).output).toContain(': OK');
      expect((await verify(revoked)).output).toContain('error 23');

      const certificates = children.flatMap(({ certificate }) => ['-cert', openssl.file('child', certificate)]);
      const asked = ['-issuer', ca, '-CAfile', ca, ...certificates, '-serial', '0x1234'];
      const url = `${strongroom.url}/pki/${root.id}/ocsp`;
      for (const hash of ['-sha1', '-sha256']) {
        const { output } = await openssl.run('ocsp', hash, '-url', url, ...asked);
        expect(output).toContain('Response verify OK');
        expect(output).toMatch(/: good\n[\s\S]*: revoked\n[\s\S]*keyCompromise[\s\S]*0x1234: unknown/);
        expect(output).not.toMatch(/nonce/i);
        // Times of certificates have no fractions.
        expect(output).toMatch(/Revocation Time: \w+ +\d+ [\d:]+ /);
      }
    }
  });

  test('names its addresses in what it issues, and none in its own certificate', async () => {
    const node = await strongroom.startSecondNode({ env: { PUBLIC_URL: `${PUBLIC_URL}/` } });
    const { root, children } = await seedFamily(1, {}, {}, node.url);
    await node.stop();
    const text = async ({ certificate }: Authority): Promise<string> =>
      (await openssl.run('x509', '-noout', '-text', '-in', openssl.file('c', certificate))).output;
    const child = await text(children[0]);
    expect(child).toContain(`URI:${PUBLIC_URL}/pki/${root.id}/crl`);
    expect(child).toContain(`OCSP - URI:${PUBLIC_URL}/pki/${root.id}/ocsp`);
    expect(child).toContain(`CA Issuers - URI:${PUBLIC_URL}/pki/${root.id}/certificate`);
    expect(await text(root)).not.toContain('URI:');
  });

  test('answers OCSP over GET, to be kept by others, and refuses what is no request', async () => {
    const { root, children } = await seedFamily(1);
    const [ca, request] = [openssl.file('ca', root.certificate), openssl.path('request')];
    const child = ['-cert', openssl.file('child', children[0].certificate)];
    await openssl.run('ocsp', '-no_nonce', '-issuer', ca, ...child, '-reqout', request);
    const base64 = readFileSync(request).toString('base64');
    for (const path of [base64, encodeURIComponent(base64)]) {
      const response = await fetchPki(root, `ocsp/${path}`);
      expect(response.headers.get('content-type')).toBe('application/ocsp-response');
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      const file = openssl.file('response', await bytesOf(response));
      const { output } = await openssl.run(
        'ocsp',
        '-respin',
        file,
        '-issuer',
        ca,
        '-CAfile',
        ca,
        ...child,
        '-no_nonce',
      );
      expect(output).toContain('Response verify OK');
      expect(output).toMatch(/: good/);
    }
    const post = (body: Buffer, type = 'application/ocsp-request'): Promise<Response> =>
      fetchPki(root, 'ocsp', { method: 'POST', body, headers: { 'content-type': type } });
    const malformed = await post(Buffer.from('no request'));
    expect([malformed.status, malformed.headers.get('cache-control')]).toEqual([200, 'no-store']);
    // 1: malformedRequest, without a response inside.
    expect([...(await bytesOf(malformed))]).toEqual([0x30, 3, 0x0a, 1, 1]);
    expect((await post(readFileSync(request), 'application/json')).status).toBe(415);
    expect((await post(Buffer.alloc(16 * 1024 + 1))).status).toBe(413);
    expect((await post(Buffer.alloc(0))).status).toBe(200);
  });

  test('knows nothing of certificates of other authorities', async () => {
    const [one, other] = [await seedFamily(1), await seedFamily(1)];
    const ca = openssl.file('ca', one.root.certificate);
    const child = openssl.file('child', one.children[0].certificate);
    const url = `${strongroom.url}/pki/${other.root.id}/ocsp`;
    const otherCa = openssl.file('ca', other.root.certificate);
    const asked = await openssl.run(
      'ocsp',
      '-url',
      url,
      '-issuer',
      ca,
      '-cert',
      child,
      '-CAfile',
      otherCa,
      '-noverify',
    );
    expect(asked.output).toMatch(/: unknown/);
  });
});
