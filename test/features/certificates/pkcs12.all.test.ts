import { X509Certificate } from 'node:crypto';
import * as asn1 from 'asn1js';
import { mustSucceed } from '../../kit/caller.js';
import { type Made, newIntermediate, newLeaf, newRoot } from '../../kit/certificates/material.js';
import { useOpenssl } from '../../kit/certificates/openssl.js';
import { describeWith } from '../../kit/describe-with.js';
import { testInAll } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CERTIFICATES, importCertificate, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();
const PASSWORD = 'correct hörse battery';

/** A file with its contents many times, each encrypted for itself. It has no MAC. */
function repeated(pkcs12: string, times: number): string {
  const parsed = <T>(bytes: ArrayBuffer): T => asn1.fromBER(bytes).result as T;
  const [version, authSafe] = parsed<asn1.Sequence>(new Uint8Array(Buffer.from(pkcs12, 'base64')).buffer).valueBlock
    .value as [asn1.Integer, asn1.Sequence];
  const [type, content] = authSafe.valueBlock.value as [asn1.ObjectIdentifier, asn1.Constructed];
  const [octets] = content.valueBlock.value as [asn1.OctetString];
  const { value } = parsed<asn1.Sequence>(octets.getValue()).valueBlock;
  const all = new asn1.Sequence({ value: Array.from({ length: times }, () => value).flat() });
  const valueHex = all.toBER();
  const wrapped = new asn1.Constructed({
    idBlock: { tagClass: 3, tagNumber: 0 },
    value: [new asn1.OctetString({ valueHex })],
  });
  const file = new asn1.Sequence({ value: [version, new asn1.Sequence({ value: [type, wrapped] })] });
  return Buffer.from(file.toBER()).toString('base64');
}

describeWith(['openssl'], 'PKCS#12 files', () => {
  const openssl = useOpenssl();

  /** A file as openssl makes it. */
  async function fileOf({ pem, key }: Made, chain: readonly Made[], ...options: string[]): Promise<string> {
    const [path, passwordFile] = [openssl.path('made.p12'), openssl.file('password', PASSWORD)];
    const issuers = openssl.file('chain', chain.map((issuer) => issuer.pem).join(''));
    const parts = ['-inkey', openssl.file('key', key), '-in', openssl.file('leaf', pem), '-certfile', issuers];
    const out = ['-out', path, '-passout', `file:${passwordFile}`];
    const { isOk, output } = await openssl.run('pkcs12', '-export', ...parts, ...out, ...options);
    if (!isOk) throw new Error(output);
    return (await openssl.run('base64', '-A', '-in', path)).output;
  }

  const OLD = ['-legacy', '-certpbe', 'PBE-SHA1-RC2-40', '-keypbe', 'PBE-SHA1-3DES'];

  test.each([
    ['rsa-2048', 'AES-256', []],
    ['ec-p384', 'AES-256', []],
    ['ed25519', 'AES-256', []],
    ['rsa-2048', 'RC2 and triple DES', OLD],
    ['ec-p256', 'RC2 and triple DES', OLD],
  ] as const)(
    'of %s with %s are imported with chain and key, and exported for openssl',
    async (algorithm, _, options) => {
      const { admin, project } = await seedProject(strongroom);
      const root = await newRoot();
      const intermediate = await newIntermediate(root);
      const leaf = await newLeaf(intermediate, { algorithm });
      const pkcs12 = await fileOf(leaf, [root, intermediate], ...options);
      const body = { projectId: project.id, pkcs12, password: PASSWORD, metadata: [{ key: 'team', value: 'shop' }] };
      const { certificate } = mustSucceed(await admin.post(`${CERTIFICATES}/import-pkcs12`, body)).body;
      expect(certificate).toMatchObject({
        ...{ commonName: 'shop.example.com', hasPrivateKey: true, source: 'imported', metadata: body.metadata },
      });
      const bundle = mustSucceed(await admin.get(`${CERTIFICATES}/${certificate.id}/bundle`));
      expect(bundle.headers['cache-control']).toBe('no-store');
      expect(bundle.body).toEqual({
        ...{ certificate: leaf.pem, certificateChain: intermediate.pem + root.pem, privateKey: leaf.key },
        serialNumber: certificate.serialNumber,
      });

      const exported = mustSucceed(
        await admin.post(`${CERTIFICATES}/${certificate.id}/pkcs12`, { password: PASSWORD }),
      );
      expect(exported.headers['cache-control']).toBe('no-store');
      const file = openssl.file('exported.p12', Buffer.from(exported.body.pkcs12, 'base64'));
      const opened = await openssl.run('pkcs12', '-in', file, '-passin', `pass:${PASSWORD}`, '-info', '-nodes');
      expect(opened.output).toMatch(/MAC: sha256[\s\S]*Shrouded Keybag: PBES2, PBKDF2, AES-256-CBC/);
      expect(opened.output).toContain('Encrypted data: PBES2, PBKDF2, AES-256-CBC');
      const blocks = (text: string): string[] => text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
      expect(new Set(blocks(opened.output))).toEqual(
        new Set(blocks(leaf.key + leaf.pem + intermediate.pem + root.pem)),
      );
      expect(opened.output).toContain('friendlyName: shop.example.com');
      // What is exported can be imported.
      mustSucceed(await admin.delete(`${CERTIFICATES}/${certificate.id}`));
      const again = { ...body, pkcs12: exported.body.pkcs12 };
      expect(mustSucceed(await admin.post(`${CERTIFICATES}/import-pkcs12`, again)).body.certificate).toMatchObject({
        fingerprintSha256: new X509Certificate(leaf.pem).fingerprint256.replaceAll(':', ''),
        hasPrivateKey: true,
      });
    },
  );

  test('are refused with another password, and what is no file, at once with other faults', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await newRoot();
    const pkcs12 = await fileOf(await newLeaf(root), [root]);
    const post = (body: object) => admin.post(`${CERTIFICATES}/import-pkcs12`, { projectId: project.id, ...body });
    const wrong = await post({ pkcs12, password: `${PASSWORD}!` });
    expect(wrong).toBeError(422, 'VALIDATION_FAILED');
    expect(wrong.body.details).toMatchObject([{ path: 'body.password', code: 'WRONG_PASSWORD' }]);
    const cut = Buffer.from(Buffer.from(pkcs12, 'base64').subarray(0, 900)).toString('base64');
    for (const file of ['AAAA', cut, Buffer.from(root.pem).toString('base64')]) {
      const reply = await post({ pkcs12: file, password: PASSWORD });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toMatchObject([{ path: 'body.pkcs12', code: 'INVALID_FORMAT' }]);
    }
    const both = await post({ pkcs12: 'A'.repeat(87_400), password: 'x'.repeat(256) });
    expect(both.body.details).toMatchObject([{ path: 'body.pkcs12' }, { path: 'body.password' }]);
    const other = await newLeaf(await newRoot());
    const stray = await post({ pkcs12: await fileOf(await newLeaf(root), [root, other]), password: PASSWORD });
    expect(stray.body.details).toEqual([
      { path: 'body.pkcs12', code: 'INVALID', message: 'contains a certificate that is not part of the chain' },
    ]);
  });

  test('with a million iterations are imported', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await newRoot();
    const pkcs12 = await fileOf(await newLeaf(root), [root], '-iter', '1000000', '-nomaciter');
    const body = { projectId: project.id, pkcs12, password: PASSWORD };
    const { certificate } = mustSucceed(await admin.post(`${CERTIFICATES}/import-pkcs12`, body)).body;
    expect(certificate).toMatchObject({ commonName: 'shop.example.com', hasPrivateKey: true });
  });

  test.each(['RC4-128', 'RC4-40', '3DES', '2DES', 'RC2-128', 'RC2-40'])(
    'with the old encryption %s are imported',
    async (name) => {
      const { admin, project } = await seedProject(strongroom);
      const root = await newRoot();
      const leaf = await newLeaf(root);
      const pbe = `PBE-SHA1-${name}`;
      const pkcs12 = await fileOf(leaf, [root], '-legacy', '-certpbe', pbe, '-keypbe', pbe, '-macalg', 'sha1');
      const body = { projectId: project.id, pkcs12, password: PASSWORD };
      const { certificate } = mustSucceed(await admin.post(`${CERTIFICATES}/import-pkcs12`, body)).body;
      const bundle = mustSucceed(await admin.get(`${CERTIFICATES}/${certificate.id}/bundle`)).body;
      expect(bundle).toMatchObject({ certificate: leaf.pem, certificateChain: root.pem, privateKey: leaf.key });
    },
  );

  test('with as many iterations as Java 8 to 15 uses, in their encryption, are imported', async () => {
    const { admin, project } = await seedProject(strongroom);
    const root = await newRoot();
    const pkcs12 = await fileOf(await newLeaf(root), [root], ...OLD, '-macalg', 'sha1', '-iter', '100000');
    const body = { projectId: project.id, pkcs12, password: PASSWORD };
    mustSucceed(await admin.post(`${CERTIFICATES}/import-pkcs12`, body));
    const wrong = await admin.post(`${CERTIFICATES}/import-pkcs12`, { ...body, password: `${PASSWORD}!` });
    expect(wrong.body.details).toMatchObject([{ path: 'body.password', code: 'WRONG_PASSWORD' }]);
  });

  test.each([[[]], [OLD]])('with more than a million iterations are refused (%j)', async (options) => {
    const { admin, project } = await seedProject(strongroom);
    const root = await newRoot();
    const made = await fileOf(await newLeaf(root), [root], ...options, '-iter', '32768');
    // 8,388,607 iterations in place of 32,768
    const file = Buffer.from(made, 'base64').toString('hex');
    expect(file).toContain('0203008000');
    const changed = Buffer.from(file.replaceAll('0203008000', '02037fffff'), 'hex').toString('base64');
    // In its MAC, and in its encryption.
    for (const pkcs12 of [changed, repeated(changed, 1)]) {
      const body = { projectId: project.id, pkcs12, password: PASSWORD };
      const reply = await admin.post(`${CERTIFICATES}/import-pkcs12`, body);
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toMatchObject([{ path: 'body.pkcs12', code: 'TOO_BIG' }]);
    }
  });

  testInAll('that take longer than 15 seconds are for later, and hold up nobody else', async () => {
    const [slow, other] = [await seedProject(strongroom), await seedProject(strongroom)];
    const root = await newRoot();
    const leaf = await newLeaf(root);
    const post = ({ admin, project }: typeof other, pkcs12: string) =>
      admin.post(`${CERTIFICATES}/import-pkcs12`, { projectId: project.id, pkcs12, password: PASSWORD });
    const many = repeated(await fileOf(leaf, [root], ...OLD, '-iter', '1000000', '-nomaciter'), 25);
    const small = await fileOf(leaf, [root]);
    let isAnswered = false;
    const late = post(slow, many).finally(() => {
      isAnswered = true;
    });
    mustSucceed(await post(other, small));
    expect(isAnswered).toBe(false);
    const reply = await late;
    expect(reply).toBeError(503, 'OVERLOADED');
    expect(reply.headers['retry-after']).toBe('5');
    // And it is whole again.
    mustSucceed(await post(slow, small));
  });

  test('need a password of twelve characters, and the key', async () => {
    const { admin, project } = await seedProject(strongroom);
    const leaf = await newLeaf(await newRoot());
    const { id } = await importCertificate(admin, project.id, { certificate: leaf.pem });
    expect(await admin.post(`${CERTIFICATES}/${id}/pkcs12`, { password: PASSWORD })).toBeError(
      404,
      'CERTIFICATE_KEY_NOT_FOUND',
    );
    const short = await admin.post(`${CERTIFICATES}/${id}/pkcs12`, { password: 'elevenchars' });
    expect(short).toBeError(422, 'VALIDATION_FAILED');
    expect(short.body.details).toMatchObject([{ path: 'body.password', code: 'TOO_SMALL' }]);
  });
});
