import 'reflect-metadata';
import { type JsonGeneralName, SubjectAlternativeNameExtension } from '@peculiar/x509';
import type { SanKind } from '../../../../src/features/certificates/x509/facts.js';
import { newKeyPair } from '../../../../src/features/certificates/x509/keys.js';
import { makeCertificate, makeIntermediate, makeRoot } from '../../../../src/features/certificates/x509/making.js';
import {
  type NameConstraints,
  nameConstraintsOf,
  nameConstraintViolations,
  subtreeViolations,
} from '../../../../src/features/certificates/x509/name-constraints.js';
import { toPem } from '../../../../src/features/certificates/x509/pem.js';
import { days } from '../../../kit/certificates/material.js';
import { useOpenssl } from '../../../kit/certificates/openssl.js';
import { describeWith } from '../../../kit/describe-with.js';

const CONSTRAINTS: NameConstraints = {
  permitted: [
    { kind: 'dns', value: 'example.com' },
    { kind: 'ip', value: '10.0.0.0/8' },
    { kind: 'ip', value: '2001:db8::/32' },
    { kind: 'email', value: 'ops@example.com' },
    { kind: 'email', value: '.mail.example.com' },
    { kind: 'uri', value: '.example.com' },
  ],
  excluded: [
    { kind: 'dns', value: 'secret.example.com' },
    { kind: 'ip', value: '10.9.0.0/16' },
    { kind: 'email', value: 'root.mail.example.com' },
  ],
};

/** Names, and whether they are allowed. */
const NAMES: readonly (readonly [kind: SanKind, value: string, isAllowed: boolean])[] = [
  ['dns', 'example.com', true],
  ['dns', 'a.b.Example.com', true],
  ['dns', 'notexample.com', false],
  ['dns', 'example.org', false],
  ['dns', 'secret.example.com', false],
  ['dns', 'x.secret.example.com', false],
  ['dns', '*.shop.example.com', true],
  ['ip', '10.1.2.3', true],
  ['ip', '11.1.2.3', false],
  ['ip', '10.9.2.3', false],
  ['ip', '2001:db8::1', true],
  ['ip', '2001:db9::1', false],
  ['email', 'ops@example.com', true],
  ['email', 'dev@example.com', false],
  ['email', 'dev@a.mail.example.com', true],
  ['email', 'dev@mail.example.com', false],
  ['email', 'dev@root.mail.example.com', false],
  ['uri', 'https://shop.example.com/x', true],
  ['uri', 'https://example.com/x', false],
  ['uri', 'https://example.org/x', false],
];

const make = async (nameConstraints: NameConstraints | null = CONSTRAINTS) => {
  const pair = await newKeyPair('ec-p256');
  const certificate = await makeRoot({ commonName: 'Root' }, pair, {
    ...days(90),
    maxPathLength: null,
    nameConstraints,
  });
  return { certificate, privateKey: pair.privateKey };
};

describeWith(['openssl'], 'name constraints', () => {
  const openssl = useOpenssl();

  test('are in the certificate, critical, and read from it as they were given', async () => {
    const { certificate } = await make();
    expect(nameConstraintsOf(certificate)).toEqual(CONSTRAINTS);
    const file = openssl.file('root', toPem('CERTIFICATE', certificate.raw));
    const { output } = await openssl.run('x509', '-noout', '-text', '-in', file);
    expect(output).toMatch(/X509v3 Name Constraints: critical\s+Permitted:\s+DNS:example.com\s+IP:10.0.0.0\/255.0.0.0/);
    expect(nameConstraintsOf((await make(null)).certificate)).toBeNull();
    expect(nameConstraintsOf((await make({ permitted: [], excluded: [] })).certificate)).toBeNull();
  });

  test('allow the names that openssl allows, also below another authority', async () => {
    const root = await make();
    const below = await newKeyPair('ec-p256');
    const intermediate = await makeIntermediate({ commonName: 'Below' }, below.publicKey, root, {
      ...days(90),
      maxPathLength: 0,
    });
    const leaf = await newKeyPair('ec-p256');
    const ca = openssl.file('root', toPem('CERTIFICATE', root.certificate.raw));
    const chain = openssl.file('below', toPem('CERTIFICATE', intermediate.raw));
    const analysed = await Promise.all(
      NAMES.map(async ([kind, value]) => {
        const name = { type: kind === 'uri' ? 'url' : kind, value } as JsonGeneralName;
        const issuer = { certificate: intermediate, privateKey: below.privateKey };
        const certificate = await makeCertificate({ commonName: 'Some Name' }, leaf.publicKey, issuer, {
          ...days(30),
          extensions: [new SubjectAlternativeNameExtension([name])],
        });
        const file = openssl.file('leaf', toPem('CERTIFICATE', certificate.raw));
        const { isOk } = await openssl.run('verify', '-CAfile', ca, '-untrusted', chain, file);
        const faults = nameConstraintViolations([intermediate, root.certificate], {
          ...{ commonName: 'Some Name', path: 'subject.commonName' },
          sans: [{ kind, value, path: 'sans.0' }],
        });
        return [kind, value, isOk, faults.length === 0 && faults];
      }),
    );
    expect(analysed).toEqual(NAMES.map(([kind, value, isAllowed]) => [kind, value, isAllowed, isAllowed && []]));
  });

  test('name every fault at its place, also of a common name, and of a wildcard that could be what is excluded', async () => {
    const { certificate } = await make();
    const faults = nameConstraintViolations([certificate], {
      ...{ commonName: 'shop.example.org', path: 'subject.commonName' },
      sans: [
        { kind: 'ip', value: '10.9.0.1', path: 'sans.0' },
        { kind: 'email', value: 'a@b.org', path: 'sans.1' },
      ],
    });
    expect(faults).toEqual([
      { path: 'sans.0', code: 'INVALID', message: 'must not be within the names that the issuer excludes' },
      { path: 'sans.1', code: 'INVALID', message: 'must be within the names that the issuer permits' },
      { path: 'subject.commonName', code: 'INVALID', message: 'must be within the names that the issuer permits' },
    ]);
    const wildcard = { kind: 'dns', value: '*.example.com', path: 'sans.0' } as const;
    const named = { commonName: 'x', path: 'subject.commonName', sans: [wildcard] };
    expect(nameConstraintViolations([certificate], named)).toMatchObject([{ path: 'sans.0' }]);
    // openssl takes these common names for no names, and then for those of hosts.
    for (const commonName of ['*.example.org', 'shop.example.org.', '*.example.com'])
      expect(nameConstraintViolations([certificate], { ...named, commonName, sans: [] })).toMatchObject([
        { path: 'subject.commonName' },
      ]);
  });

  test('of an authority below lie within those above', async () => {
    const { certificate } = await make();
    const faultsOf = (kind: SanKind, value: string) =>
      subtreeViolations([certificate], [{ kind, value, path: 'p' }]).length;
    const within = [
      ['dns', 'a.example.com'],
      ['ip', '10.2.0.0/16'],
      ['email', '.a.mail.example.com'],
      ['uri', 'a.example.com'],
    ] as const;
    expect(within.map(([kind, value]) => faultsOf(kind, value))).toEqual([0, 0, 0, 0]);
    const beyond = [
      ['dns', 'example.org'],
      ['ip', '0.0.0.0/0'],
      ['email', 'example.com'],
      ['uri', '.com'],
    ] as const;
    expect(beyond.map(([kind, value]) => faultsOf(kind, value))).toEqual([1, 1, 1, 1]);
  });
});
