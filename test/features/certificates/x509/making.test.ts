import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { factsOf } from '../../../../src/features/certificates/x509/facts.js';
import { KEY_ALGORITHMS, newKeyPair } from '../../../../src/features/certificates/x509/keys.js';
import { makeAuthorityRequest, makeRoot, subjectText } from '../../../../src/features/certificates/x509/making.js';
import { toPem } from '../../../../src/features/certificates/x509/pem.js';
import { days, newIntermediate, newLeaf, newRoot } from '../../../kit/certificates/material.js';
import { describeWith } from '../../../kit/describe-with.js';

describeWith(['openssl'], 'certificates that are made here', () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const openssl = (...args: string[]): string =>
    execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

  test.each(KEY_ALGORITHMS)('of %s are a chain that openssl verifies', async (algorithm) => {
    const root = await newRoot(algorithm);
    const intermediate = await newIntermediate(root, algorithm);
    const leaf = await newLeaf(intermediate, { algorithm });
    const [trusted, untrusted, end] = [root, intermediate, leaf].map(({ pem }, at) => file(`${algorithm}-${at}`, pem));
    const args = ['-x509_strict', '-CAfile', trusted as string, '-untrusted', untrusted as string, end as string];
    expect(openssl('verify', ...args)).toContain(': OK');
    expect(factsOf(leaf.certificate).keyAlgorithm).toBe(algorithm);
    expect(openssl('pkey', '-in', file('key', leaf.key), '-pubout')).toBe(
      openssl('x509', '-in', end as string, '-noout', '-pubkey'),
    );
  });

  test('are refused by openssl below an authority that may have none below it', async () => {
    const root = await newRoot();
    const first = await newIntermediate(root);
    const second = await newIntermediate(first, 'ec-p256', 'Second');
    const leaf = await newLeaf(second);
    const paths = [root, first, second, leaf].map(({ pem }, at) => file(`long-${at}`, pem)) as [string, ...string[]];
    const untrusted = file('untrusted', first.pem + second.pem);
    const result = spawnSync('openssl', ['verify', '-CAfile', paths[0], '-untrusted', untrusted, paths[3] as string]);
    expect(String(result.stderr)).toContain('path length constraint');
  });

  test.each(KEY_ALGORITHMS)(
    'have requests of %s that openssl verifies, and that ask for an authority',
    async (algorithm) => {
      const request = await makeAuthorityRequest({ commonName: 'Below' }, await newKeyPair(algorithm), {
        maxPathLength: 1,
      });
      const text = openssl('req', '-in', file('request', request), '-noout', '-verify', '-text');
      expect(text).toContain('CA:TRUE, pathlen:1');
      expect(text).toContain('Certificate Sign, CRL Sign');
    },
  );

  test('have every part of a name as it was given, whatever is in it', async () => {
    const subject = {
      commonName: '#0401 a, b+c="d" \\ <ä>;',
      organization: '"quoted" ',
      organizationalUnit: '#',
      locality: ' x ',
      province: 'a\\,b',
      country: 'DE',
    };
    const pair = await newKeyPair('ec-p256');
    const root = await makeRoot(subject, pair, { ...days(40_000), maxPathLength: 3 });
    const names = openssl(
      'x509',
      '-in',
      file('named', toPem('CERTIFICATE', root.raw)),
      '-noout',
      '-subject',
      '-nameopt',
      'multiline,-esc_msb,utf8',
    );
    for (const value of Object.values(subject)) expect(names.replaceAll('\\\\', '\\')).toContain(`= ${value}\n`);
    expect(factsOf(root)).toMatchObject({
      commonName: subject.commonName,
      subject: subjectText(subject),
      pathLength: 3,
      notAfter: root.validToDate,
    });
  });
});
