import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { factsOf } from '../../../src/features/certificates/x509/facts.js';
import { KEY_ALGORITHMS, newKeyPair } from '../../../src/features/certificates/x509/keys.js';
import { newLeaf, newRoot } from '../../kit/certificates/material.js';
import { describeWith } from '../../kit/describe-with.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import {
  contentOf,
  issue,
  KeyUsageFlags,
  makeProfile,
  newCsr,
  pathsOf,
  renew,
  SHOP,
  seedProfile,
} from './issuing-kit.js';
import { CERTIFICATES, makeAuthority } from './kit.js';

const strongroom = useSharedStrongroom();

/** The common name that a client sees that trusts only this authority. */
async function handshake(files: Record<string, string>, ca: string): Promise<string> {
  const server = createServer({ cert: `${files.certificate}${files.chain}`, key: files.key as string }, (_, response) =>
    response.end(),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    return await new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', servername: 'shop.example.com', ca }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });
  } finally {
    server.close();
  }
}

describeWith(['openssl'], 'what is issued and renewed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'issued-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test.each(KEY_ALGORITHMS)(
    'with keys of %s is accepted by openssl and by TLS, from a request, with a key of ours, and renewed in all three ways',
    async (algorithm) => {
      const { admin, project, root } = await seedProfile(strongroom, {}, { keyAlgorithm: algorithm });
      const below = { name: 'Below', kind: 'intermediate', parentId: root.id, subject: { commonName: 'Below' } };
      const issuer = await makeAuthority(admin, project.id, { ...below, keyAlgorithm: algorithm });
      const extended = { required: ['serverAuth'] };
      const profile = await makeProfile(admin, { project, root: issuer }, { slug: 'tls', extendedKeyUsages: extended });
      const own = await newCsr({ algorithm, extended: ['1.3.6.1.5.5.7.3.1'] });
      const next = await newCsr({ algorithm, sans: [], name: '' });
      const ours = await issue(admin, profile.id, { ...SHOP, keyAlgorithm: algorithm });
      const theirs = await issue(admin, profile.id, { csr: own.csr });
      const again = await renew(admin, ours.id, { key: 'same' });
      const fresh = await renew(admin, again.id, { key: 'new' });
      const made: (readonly [id: string, key: string | undefined])[] = [
        [ours.id, undefined],
        [theirs.id, own.key],
        [again.id, undefined],
        [fresh.id, undefined],
        [(await renew(admin, fresh.id, { csr: next.csr })).id, next.key],
      ];
      const trusted = file(`${algorithm}-root`, root.certificate);
      const contents = [];
      for (const [id, key] of made) {
        const content = { ...(await contentOf(admin, id)), ...(key === undefined ? {} : { key }) } as Record<
          string,
          string
        >;
        const [end, chain] = [file('end', content.certificate as string), file('chain', content.chain as string)];
        const args = ['verify', '-x509_strict', '-CAfile', trusted, '-untrusted', chain, '-purpose', 'sslserver', end];
        expect(execFileSync('openssl', args, { encoding: 'utf8' })).toContain(': OK');
        expect(await handshake(content, root.certificate)).toBe('shop.example.com');
        contents.push(content);
      }
      const [first, , same, other] = contents.map(({ key }) => key);
      expect(same).toBe(first);
      expect(other).not.toBe(first);
      expect(
        new Set(contents.map(({ certificate }) => new X509Certificate(certificate as string).serialNumber)).size,
      ).toBe(5);
    },
  );

  test('without a subject has critical names, and as an authority signs others', async () => {
    const { admin, project, root, profile } = await seedProfile(strongroom);
    const sans = [
      { kind: 'ip', value: '::ffff:192.0.2.1' },
      { kind: 'ip', value: '2001:db8::1' },
      { kind: 'uri', value: 'spiffe://example.org/shop' },
      { kind: 'email', value: 'ops@example.com' },
      { kind: 'dns', value: '*.xn--bcher-kva.example' },
    ];
    const nameless = await issue(admin, profile.id, { sans });
    const authority = await makeProfile(admin, { project, root }, { slug: 'ca', ca: 'required', maxPathLength: 0 });
    const below = await issue(admin, authority.id, { subject: { commonName: 'Below' } });
    const trusted = file('root', root.certificate);
    for (const { id } of [nameless, below]) {
      const { certificate } = await contentOf(admin, id);
      const args = ['verify', '-x509_strict', '-CAfile', trusted, file('one', certificate as string)];
      expect(execFileSync('openssl', args, { encoding: 'utf8' })).toContain(': OK');
    }
    const text = execFileSync(
      'openssl',
      ['x509', '-noout', '-text', '-in', file('n', (await contentOf(admin, nameless.id)).certificate as string)],
      { encoding: 'utf8' },
    );
    expect(text).toMatch(/Subject Alternative Name: critical/);
    expect(text).toContain('IP Address:0:0:0:0:0:FFFF:C000:201');
    const { isCa, pathLength, keyUsages } = factsOf(
      new X509Certificate((await contentOf(admin, below.id)).certificate as string),
    );
    expect({ isCa, pathLength, keyUsages }).toEqual({
      isCa: true,
      pathLength: 0,
      keyUsages: ['keyCertSign', 'cRLSign'],
    });
    expect(below).toMatchObject({ isCa: true, profileSlug: 'ca' });
  });
});

describe('a certificate request', () => {
  test('says all, and the profile the rest', async () => {
    const { admin, profile } = await seedProfile(strongroom, { defaults: { extendedKeyUsages: ['serverAuth'] } });
    const usages = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyAgreement;
    const { csr, pair } = await newCsr({ name: 'C=DE, O=Shop, CN=shop.example.com', usages });
    const certificate = await issue(admin, profile.id, { csr });
    expect(certificate).toMatchObject({ hasPrivateKey: false, sans: ['shop.example.com'] });
    const issued = new X509Certificate((await contentOf(admin, certificate.id)).certificate as string);
    expect(issued.publicKey.equals(pair.publicKey)).toBe(true);
    const { subject, keyUsages, extendedKeyUsages } = factsOf(issued);
    expect({ subject, keyUsages, extendedKeyUsages }).toEqual({
      subject: 'C=DE, O=Shop, CN=shop.example.com',
      keyUsages: ['digitalSignature', 'keyAgreement'],
      extendedKeyUsages: ['serverAuth'],
    });
    expect(await admin.get(`${CERTIFICATES}/${certificate.id}/private-key`)).toBeError(
      404,
      'CERTIFICATE_KEY_NOT_FOUND',
    );
  });

  test('is refused with a weak key, a wrong signature, names that are none, and names outside of the profile', async () => {
    const { admin, profile } = await seedProfile(strongroom, { sans: [{ kind: 'dns', allowed: ['*.example.com'] }] });
    const refusal = async (csr: string, more = {}) => {
      const reply = await admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, csr, ...more });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      return reply.body.details.map(({ path, message }: Record<string, string>) => `${path} ${message}`);
    };
    const other = await newKeyPair('ec-p256');
    const forged = await newCsr({ signedBy: other.privateKey });
    expect(await refusal(forged.csr)).toEqual([
      'body.csr contains a certificate request with an invalid signature (line 1)',
    ]);
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const weak = await newCsr({ pair: { publicKey, privateKey } });
    expect(await refusal(weak.csr)).toEqual(['body.csr must have an RSA key of 2048 to 8192 bits (line 1)']);
    const names = await newCsr({
      name: 'CN=a, CN=b, DC=example, C=de',
      sans: [
        { type: 'dns', value: 'a.example.org' },
        { type: 'dns', value: 'a.*.example.com' },
        { type: 'dn', value: 'CN=x' },
      ],
    });
    expect(await refusal(names.csr)).toEqual([
      'body.csr subject.commonName: must not be repeated',
      'body.csr subject[2]: must be one of CN, O, OU, L, ST and C',
      'body.csr subject.country: must be two upper-case letters, for example DE',
      'body.csr sans: must be DNS names, IP addresses, email addresses or URIs',
      'body.csr sans[1].value: must be an ASCII DNS name; a wildcard may only be its whole first label',
      'body.csr sans[0]: must be allowed by the profile',
    ]);
    const { csr } = await newCsr();
    expect(await refusal(csr, { keyUsages: [], subject: {} })).toHaveLength(2);
    expect(await refusal(csr + csr)).toEqual([expect.stringMatching(/second certificate request \(line \d+\)$/)]);
    expect(await refusal('nothing')).toEqual(['body.csr must be PEM: -----BEGIN ...-----']);
    expect(await refusal((await newLeaf(await newRoot())).pem)).toEqual([
      'body.csr contains a PEM block that is not a certificate request (line 1)',
    ]);
    expect(await refusal(csr.replace(/\n.{20}/, '\nMIIBAAAAAAAAAAAAAAAA'))).toEqual([
      'body.csr contains a certificate request that cannot be parsed (line 1)',
    ]);
  });
});

describe('a certificate request', () => {
  test.each([
    ['a common name with NUL', { commonName: 'shop.example.com\u0000.example.org' }, 'subject.commonName'],
    ['a common name of two lines', { commonName: 'shop\nSubject: x' }, 'subject.commonName'],
    ['the right to answer about revocation', { extended: ['1.3.6.1.5.5.7.3.9'] }, 'extendedKeyUsages[0]'],
    ['every purpose, of which one is denied', { extended: ['2.5.29.37.0'] }, 'extendedKeyUsages[0]'],
    ['a path length below 0', { basicConstraints: Buffer.from('30060101ff0201ff', 'hex') }, 'pathLength'],
    [
      'a path length that no program reads',
      { basicConstraints: Buffer.from('300a0101ff020500ffffffff', 'hex') },
      'pathLength',
    ],
  ])('smuggles nothing in: %s', async (_, wanted, path) => {
    const { admin, profile } = await seedProfile(strongroom, {
      ca: 'allowed',
      extendedKeyUsages: { denied: ['codeSigning'] },
    });
    const { csr } = await newCsr({ sans: [], ...wanted });
    const reply = await admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, csr });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details[0]).toMatchObject({
      path: 'body.csr',
      message: expect.stringContaining(`${path}: `),
    });
  });

  test('may answer about revocation where its profile says so', async () => {
    const { admin, profile } = await seedProfile(strongroom, { extendedKeyUsages: { allowed: ['OCSPSigning'] } });
    const { csr } = await newCsr({ extended: ['1.3.6.1.5.5.7.3.9'] });
    expect(await issue(admin, profile.id, { csr })).toMatchObject({ status: 'active' });
  });
});

test('an authority with constraints on names issues no other ones, whoever says them', async () => {
  const nameConstraints = {
    permitted: [{ kind: 'dns', value: 'example.com' }],
    excluded: [{ kind: 'ip', value: '192.0.2.0/24' }],
  };
  const { admin, project, root, profile } = await seedProfile(strongroom, {}, { nameConstraints });
  const send = (body: object) => admin.post(`${CERTIFICATES}/issue`, { profileId: profile.id, ...body });
  const sans = [
    { kind: 'dns', value: 'shop.example.com' },
    { kind: 'dns', value: 'shop.example.org' },
    { kind: 'ip', value: '192.0.2.7' },
  ];
  const refused = await send({ sans });
  expect(refused).toBeError(422, 'VALIDATION_FAILED');
  expect(pathsOf(refused)).toEqual(['body.sans[1]', 'body.sans[2]']);
  expect(pathsOf(await send({ subject: { commonName: 'shop.example.org' } }))).toEqual(['body.subject.commonName']);
  const { csr } = await newCsr({ sans: [{ type: 'dns', value: 'shop.example.org' }] });
  expect((await send({ csr })).body.details).toMatchObject([
    { path: 'body.csr', message: 'sans[0]: must be within the names that the issuer permits' },
  ]);
  expect((await issue(admin, profile.id)).commonName).toBe('shop.example.com');
  const free = await makeAuthority(admin, project.id, { name: 'Free' });
  const other = await makeProfile(admin, { project, root: free }, { slug: 'free' });
  const { id } = await issue(admin, other.id, { sans });
  expect(pathsOf(await admin.post(`${CERTIFICATES}/${id}/renew`, { profileId: profile.id }))).toEqual([
    ...['params.certificateId', 'params.certificateId'],
  ]);
  expect(root.nameConstraints).toEqual(nameConstraints);
});
