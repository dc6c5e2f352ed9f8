import { X509Certificate } from 'node:crypto';
import { mustSucceed } from '../../kit/caller.js';
import { type Made, newIntermediate, newLeaf, newRoot } from '../../kit/certificates/material.js';
import { useOpenssl } from '../../kit/certificates/openssl.js';
import { describeWith } from '../../kit/describe-with.js';
import { testInAll } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { CERTIFICATES, importCertificate, seedProject } from './kit.js';

const strongroom = useSharedStrongroom();
const PASSWORD = 'correct hörse battery';

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

  testInAll('that take as long as they may hold up nobody else', async () => {
    const [attacker, victim] = [await seedProject(strongroom), await seedProject(strongroom)];
    const root = await newRoot();
    const leaf = await newLeaf(root);
    const post = ({ admin, project }: typeof victim, pkcs12: string) =>
      admin.post(`${CERTIFICATES}/import-pkcs12`, { projectId: project.id, pkcs12, password: PASSWORD });
    // 8,388,607 rounds in place of 32,768.
    const file = Buffer.from(await fileOf(leaf, [root], '-iter', '32768'), 'base64').toString('hex');
    expect(file).toContain('0203008000');
    const bomb = Buffer.from(file.replaceAll('0203008000', '02037fffff'), 'hex').toString('base64');
    const small = await fileOf(leaf, [root]);
    let left = 3;
    const bombs = Promise.all(
      Array.from({ length: left }, async () => {
        const reply = await post(attacker, bomb);
        left -= 1;
        return reply.status;
      }),
    );
    mustSucceed(await post(victim, small));
    expect(left).toBeGreaterThan(0);
    expect(new Set(await bombs)).toEqual(new Set([422, 503]));
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
