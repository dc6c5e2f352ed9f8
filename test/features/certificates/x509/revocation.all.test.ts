import { type X509Certificate as ForeignCertificate, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeRevocationList, serialInteger, serialText } from '../../../../src/features/certificates/x509/crl.js';
import { KEY_ALGORITHMS } from '../../../../src/features/certificates/x509/keys.js';
import {
  makeOcspResponse,
  type OcspStatus,
  readOcspRequest,
  serialIfIssuedBy,
} from '../../../../src/features/certificates/x509/ocsp.js';
import { type Made, newLeaf, newRoot } from '../../../kit/certificates/material.js';
import { useOpenssl } from '../../../kit/certificates/openssl.js';
import { describeWith } from '../../../kit/describe-with.js';
import fc from '../../../kit/properties.js';

const at = (days: number): Date => new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * 86_400_000);
const issuerOf = ({ certificate, pair }: Made) => ({ certificate, privateKey: pair.privateKey });
const serialOf = ({ certificate }: { certificate: ForeignCertificate }): string =>
  certificate.serialNumber.toUpperCase();

describeWith(['openssl'], 'revocation by an authority', () => {
  const openssl = useOpenssl();

  test.each(KEY_ALGORITHMS)('with %s is a list and OCSP responses that openssl accepts', async (algorithm) => {
    const root = await newRoot(algorithm);
    const [good, revoked] = [await newLeaf(root), await newLeaf(root)];
    const list = await makeRevocationList(issuerOf(root), {
      ...{ number: 200, thisUpdate: at(0), nextUpdate: at(7) },
      revocations: [{ serialNumber: serialOf(revoked), revokedAt: at(-1), reason: 'keyCompromise' }],
    });
    const crl = await openssl.run('crl', '-inform', 'DER', '-in', openssl.file('crl', list), '-noout', '-text');
    expect(crl.output).toContain('X509v3 CRL Number: \n                200');
    expect(crl.output).toContain('Key Compromise');
    const pem = openssl.path('crl.pem');
    await openssl.run('crl', '-inform', 'DER', '-in', openssl.file('crl', list), '-out', pem);
    const ca = openssl.file('ca', root.pem);
    const verify = (leaf: Made) =>
      openssl.run(
        'verify',
        '-x509_strict',
        '-crl_check',
        '-CAfile',
        ca,
        '-CRLfile',
        pem,
        openssl.file('leaf', leaf.pem),
      );
    expect((await verify(good)).output).toContain(': OK');
    expect((await verify(revoked)).output).toContain('error 23');

    const statuses: Record<string, OcspStatus> = {
      [serialOf(good)]: 'good',
      [serialOf(revoked)]: { revokedAt: at(-1), reason: 'superseded' },
    };
    for (const hash of ['-sha1', '-sha256']) {
      const request = openssl.path('request');
      const asked = [good, revoked].flatMap((leaf) => ['-cert', openssl.file('leaf', leaf.pem)]);
      await openssl.run('ocsp', hash, '-issuer', ca, ...asked, '-serial', '0x7fab', '-reqout', request);
      const read = readOcspRequest(readFileSync(request));
      if (read === null) throw new Error('the request was not read');
      const serials = read.ids.map((id) => serialIfIssuedBy(root.certificate, id));
      expect(serials).toEqual([serialOf(good), serialOf(revoked), '7FAB']);
      const response = await makeOcspResponse(issuerOf(root), read, {
        ...{ now: at(0), nextUpdate: at(1) },
        statuses: serials.map((serial) => statuses[serial ?? ''] ?? 'unknown'),
      });
      const file = openssl.file('response', response);
      const all = ['-issuer', ca, ...asked, '-serial', '0x7fab', '-CAfile', ca];
      const { output } = await openssl.run(
        'ocsp',
        hash,
        // Of its own: that of the request is compared.
        '-no_nonce',
        '-respin',
        file,
        '-reqin',
        request,
        ...all,
        '-verify_other',
        ca,
      );
      expect(output).toContain('Response verify OK');
      expect(output).toMatch(/: good\n[\s\S]*: revoked\n[\s\S]*superseded[\s\S]*0x7fab: unknown/);
      expect(output).not.toMatch(/nonce/i);
    }
  });

  test('asks about certificates of another issuer in vain', async () => {
    const [root, other] = [await newRoot(), await newRoot()];
    const leaf = await newLeaf(root);
    const request = openssl.path('request');
    await openssl.run(
      'ocsp',
      '-issuer',
      openssl.file('ca', root.pem),
      '-cert',
      openssl.file('leaf', leaf.pem),
      '-reqout',
      request,
    );
    const [id] = readOcspRequest(readFileSync(request))?.ids ?? [];
    // The name is the same one, the key is not.
    expect(id && serialIfIssuedBy(other.certificate, id)).toBeNull();
    expect(id && serialIfIssuedBy(root.certificate, id)).toBe(serialOf(leaf));
  });
});

test('bytes that are no OCSP request are not taken for one', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(readOcspRequest(bytes)).toBeNull();
    }),
  );
});

test('serial numbers are positive integers of DER, and read as they were written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
      const text = Buffer.from(bytes)
        .toString('hex')
        .toUpperCase()
        .replace(/^(?:00)+(?=..)/, '');
      const der = serialInteger(text);
      expect([der[0], (der[2] as number) < 0x80]).toEqual([2, true]);
      expect(serialText(new Uint8Array(der.subarray(2)).buffer)).toBe(text);
    }),
  );
});

test('a list may have fifty thousand entries', async () => {
  const root = await newRoot();
  const revocations = Array.from({ length: 50_000 }, () => ({
    ...{
      serialNumber: `7${randomBytes(16).toString('hex').slice(1)}`.toUpperCase(),
      revokedAt: at(0),
      reason: 'unspecified',
    },
  }));
  const list = await makeRevocationList(issuerOf(root), {
    number: 1,
    thisUpdate: at(0),
    nextUpdate: at(7),
    revocations,
  });
  expect(list.length).toBeGreaterThan(50_000 * 30);
  expect(list.includes(Buffer.from(revocations[49_999]?.serialNumber as string, 'hex'))).toBe(true);
});
