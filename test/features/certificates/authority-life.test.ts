import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { newKeyPair } from '../../../src/features/certificates/x509/keys.js';
import { makeAuthorityRequest } from '../../../src/features/certificates/x509/making.js';
import { mustSucceed } from '../../kit/caller.js';
import { useOpenssl } from '../../kit/certificates/openssl.js';
import { signRequest } from '../../kit/certificates/outside.js';
import { describeWith } from '../../kit/describe-with.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CA, CERTIFICATES, makeAuthority, PENDING, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();
const BELOW = { name: 'Below', kind: 'intermediate', subject: { commonName: 'Below' } };
const WEAK = generateKeyPairSync('rsa', { modulusLength: 2_048, publicExponent: 3 });
const CONSTRAINTS = { permitted: [{ kind: 'dns', value: 'example.com' }], excluded: [] };
const keyOf = ({ certificate }: { certificate: string }): string =>
  new X509Certificate(certificate).publicKey.export({ format: 'pem', type: 'spki' }).toString();

describeWith(['openssl'], 'renewing an authority', () => {
  const openssl = useOpenssl();

  test.each(['rsa-2048', 'ec-p384', 'ed25519'])(
    'with %s gives it a certificate of the same key, below which older ones are good',
    async (keyAlgorithm) => {
      const { admin, project } = await seedProject(strongroom);
      const bounds = { maxPathLength: 2, nameConstraints: CONSTRAINTS };
      const root = await makeAuthority(admin, project.id, { ...bounds, keyAlgorithm, validDays: 100 });
      const child = await makeAuthority(admin, project.id, { ...BELOW, parentId: root.id });
      const renewed = mustSucceed(await admin.post(`${CA}/${root.id}/renew`, { validDays: 200 })).body
        .certificateAuthority;
      expect(renewed).toMatchObject({
        ...{ id: root.id, subject: root.subject, ...bounds, status: 'active', version: 2 },
        formerCertificates: [
          { certificate: root.certificate, serialNumber: root.serialNumber, notAfter: root.notAfter },
        ],
      });
      expect(renewed.serialNumber).not.toBe(root.serialNumber);
      expect(Date.parse(renewed.notAfter) - Date.parse(renewed.notBefore)).toBe(200 * 86_400_000);
      expect(keyOf(renewed)).toBe(keyOf(root));
      const below = openssl.file('below', child.certificate);
      for (const { certificate } of [root, renewed]) {
        const ca = openssl.file('root', certificate);
        expect((await openssl.run('verify', '-x509_strict', '-CAfile', ca, below)).output).toContain(': OK');
      }
      const crl = openssl.file('crl', await (await fetch(`${strongroom.url}/pki/${root.id}/crl?format=pem`)).text());
      const checked = ['-crl_check', '-CRLfile', crl, '-CAfile', openssl.file('root', renewed.certificate), below];
      expect((await openssl.run('verify', ...checked)).output).toContain(': OK');
    },
  );

  test('below another one is signed by that; what it had before is good at its OCSP responder, and revoked with it', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    const child = await makeAuthority(admin, project.id, { ...BELOW, parentId: root.id, validDays: 30 });
    const renewed = mustSucceed(await admin.post(`${CA}/${child.id}/renew`, {})).body.certificateAuthority;
    expect(renewed).toMatchObject({ parentId: root.id, chain: root.certificate });
    const ca = openssl.file('root', root.certificate);
    const certificates = [child, renewed].flatMap(({ certificate }) => ['-cert', openssl.file('child', certificate)]);
    const url = `${strongroom.url}/pki/${root.id}/ocsp`;
    const ask = async () =>
      (await openssl.run('ocsp', '-url', url, '-issuer', ca, '-CAfile', ca, ...certificates)).output;
    expect(await ask()).toMatch(/: good\n[\s\S]*: good\n/);
    mustSucceed(await admin.post(`${CA}/${child.id}/revoke`, { reason: 'keyCompromise' }));
    expect(await ask()).toMatch(/: revoked\n[\s\S]*: revoked\n/);
    expect(await admin.post(`${CA}/${child.id}/renew`, {})).toBeError(409, 'CERTIFICATE_AUTHORITY_REVOKED');
  });

  test('whose issuer is outside makes a request, and its certificate stays until that is answered', async () => {
    const { admin, project } = await seedProject(strongroom);
    const pending = await makeAuthority(admin, project.id, PENDING);
    expect(await admin.post(`${CA}/${pending.id}/renew`, {})).toBeError(409, 'CERTIFICATE_AUTHORITY_PENDING');
    const answer = async (body: object) => admin.post(`${CA}/${pending.id}/import-certificate`, body);
    const first = mustSucceed(await answer({ certificate: (await signRequest(pending.request)).certificate })).body
      .certificateAuthority;
    const asked = mustSucceed(await admin.post(`${CA}/${pending.id}/renew`, {})).body.certificateAuthority;
    expect(asked).toMatchObject({ status: 'active', certificate: first.certificate, formerCertificates: [] });
    const verified = await openssl.run(
      'req',
      '-in',
      openssl.file('request', asked.request),
      '-noout',
      '-verify',
      '-text',
    );
    expect(verified.output).toContain('verify OK');
    expect(verified.output).toContain('CA:TRUE, pathlen:0');
    expect(verified.output).toContain('Certificate Sign, CRL Sign');
    const other = await answer({
      certificate: (await signRequest(asked.request, { subject: 'CN=Other' })).certificate,
    });
    expect(other).toBeError(422, 'VALIDATION_FAILED');
    expect(other.body.details).toMatchObject([{ path: 'body.certificate' }]);
    const second = await signRequest(asked.request);
    const renewed = mustSucceed(await answer({ certificate: second.certificate })).body.certificateAuthority;
    expect(renewed).toMatchObject({
      ...{ certificate: second.certificate, request: null, status: 'active' },
      formerCertificates: [{ certificate: first.certificate }],
    });
    expect(keyOf(renewed)).toBe(keyOf(first));
  });

  test('needs the version that was seen, and a parent that issues', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    const child = await makeAuthority(admin, project.id, { ...BELOW, parentId: root.id });
    expect(await admin.post(`${CA}/${root.id}/renew`, { expectedVersion: 2 })).toBeError(409, 'CONCURRENT_CHANGE');
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
    expect(await admin.post(`${CA}/${child.id}/renew`, {})).toBeError(409, 'CERTIFICATE_AUTHORITY_DISABLED');
  });
});

describe('a successor of an authority', () => {
  const NEXT = { name: 'Root G2', subject: { commonName: 'Example Root G2' } };

  test('has a key of its own, and the kind and parent of the one that it follows, which issues on or not', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id);
    const child = await makeAuthority(admin, project.id, { ...BELOW, parentId: root.id });
    const successor = async (id: string, body: object) =>
      mustSucceed(await admin.post(`${CA}/${id}/successor`, body)).body.certificateAuthority;
    const next = await successor(root.id, NEXT);
    expect(next).toMatchObject({ kind: 'root', status: 'active', parentId: null, predecessorId: root.id, version: 1 });
    expect(keyOf(next)).not.toBe(keyOf(root));
    const below = await successor(child.id, { ...NEXT, name: 'Below G2', disablePredecessor: true });
    expect(below).toMatchObject({ kind: 'intermediate', parentId: root.id, predecessorId: child.id });
    expect(mustSucceed(await admin.get(`${CA}/${child.id}`)).body.certificateAuthority).toMatchObject({
      ...{ status: 'disabled', version: 2, predecessorId: null, successorId: below.id },
    });
    expect(mustSucceed(await admin.get(`${CA}/${root.id}`)).body.certificateAuthority.status).toBe('active');
    const again = await admin.post(`${CA}/${root.id}/successor`, { ...NEXT, name: 'Root G3' });
    expect(again).toBeError(409, 'CERTIFICATE_AUTHORITY_HAS_SUCCESSOR');
    mustSucceed(await admin.delete(`${CA}/${child.id}`));
    expect(mustSucceed(await admin.get(`${CA}/${below.id}`)).body.certificateAuthority.predecessorId).toBeNull();
  });
});

describeWith(['openssl'], 'signing an authority outside', () => {
  const openssl = useOpenssl();
  const SUBJECT = { commonName: 'Outside', organization: 'Partner' };

  test('makes a certificate within the bounds of the issuer, which is in the inventory and can be revoked', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id, { maxPathLength: 2, validDays: 100 });
    // What the request asks for beyond its subject and key does not count.
    const request = await makeAuthorityRequest(SUBJECT, await newKeyPair('rsa-2048'), { maxPathLength: 9 });
    const body = {
      request,
      maxPathLength: 0,
      nameConstraints: CONSTRAINTS,
      metadata: [{ key: 'partner', value: 'x' }],
    };
    const { certificate } = mustSucceed(await admin.post(`${CA}/${root.id}/sign-intermediate`, body)).body;
    expect(certificate).toMatchObject({
      ...{ commonName: 'Outside', isCa: true, source: 'issued', authorityId: root.id, hasPrivateKey: false },
      ...{ metadata: body.metadata, chain: root.certificate, keyAlgorithm: 'rsa-2048', notAfter: root.notAfter },
    });
    const file = openssl.file('outside', certificate.pem);
    const { output } = await openssl.run('x509', '-noout', '-text', '-in', file);
    expect(output).toMatch(/CA:TRUE, pathlen:0[\s\S]*Name Constraints: critical\s+Permitted:\s+DNS:example.com/);
    expect(output).toContain('Subject: O = Partner, CN = Outside');
    const ca = openssl.file('root', root.certificate);
    expect((await openssl.run('verify', '-x509_strict', '-CAfile', ca, file)).output).toContain(': OK');
    mustSucceed(await admin.post(`${CERTIFICATES}/${certificate.id}/revoke`, { reason: 'cACompromise' }));
    const crl = openssl.file('crl', await (await fetch(`${strongroom.url}/pki/${root.id}/crl?format=pem`)).text());
    const checked = await openssl.run('verify', '-crl_check', '-CRLfile', crl, '-CAfile', ca, file);
    expect(checked.output).toContain('error 23');
  });

  test('is refused beyond the bounds of the issuer, and for what is no request', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await makeAuthority(admin, project.id, {
      maxPathLength: 1,
      validDays: 100,
      nameConstraints: CONSTRAINTS,
    });
    const end = await makeAuthority(admin, project.id, { name: 'End', maxPathLength: 0 });
    const request = await makeAuthorityRequest(SUBJECT, await newKeyPair('ec-p256'), { maxPathLength: null });
    const sign = (body: object, { id } = root) => admin.post(`${CA}/${id}/sign-intermediate`, { request, ...body });
    const beyond = { permitted: [{ kind: 'dns', value: 'example.org' }] };
    const forged = Buffer.from(request.replace(/-----.*-----|\n/g, ''), 'base64');
    // The last byte of the signature.
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
    const unknown = Buffer.from(
      Buffer.from(request.replace(/-----.*-----|\n/g, ''), 'base64')
        .toString('hex')
        .replace('2a8648ce3d0201', '2a8648ce3d0209'),
      'hex',
    );
    const twoLines = await makeAuthorityRequest({ commonName: 'Two\nLines' }, await newKeyPair('ec-p256'), {
      maxPathLength: null,
    });
    const block = (label: string, der: Buffer) =>
      `-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----`;
    const refused = [
      [{ maxPathLength: 1 }, 'body.maxPathLength'],
      [{ validDays: 101 }, 'body.validDays'],
      [{ nameConstraints: beyond }, 'body.nameConstraints.permitted.0.value'],
      [{ request: root.certificate }, 'body.request'],
      [{ request: 'nothing' }, 'body.request'],
      [{ request: request + request }, 'body.request'],
      [{ request: block('CERTIFICATE REQUEST', forged) }, 'body.request'],
      // Whoever has e = 3 or a key that nobody knows.
      [{ request: await makeAuthorityRequest(SUBJECT, WEAK, { maxPathLength: null }) }, 'body.request'],
      [{ request: block('CERTIFICATE REQUEST', unknown) }, 'body.request'],
      [{ request: twoLines }, 'body.request'],
    ] as const;
    for (const [body, path] of refused) {
      const reply = await sign(body);
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toMatchObject([{ path }]);
    }
    expect((await sign({}, end)).body.details).toMatchObject([{ path: 'params.authorityId' }]);
    mustSucceed(await admin.patch(`${CA}/${root.id}`, { status: 'disabled' }));
    expect(await sign({})).toBeError(409, 'CERTIFICATE_AUTHORITY_DISABLED');
  });
});
