import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { idOf, storedText } from '../../../kernel/text-rules.js';
import { expectedVersion } from '../../../kernel/version.js';
import { keyAlgorithm, subjectText } from '../authorities/authority.rules.js';
import { nameKind } from '../authorities/name-constraints.rules.js';
import { metadata, pem, renewBeforeDays } from '../certificates/certificate.rules.js';
import { extendedKeyUsage, keyUsage, MAX_DAYS, SUBJECT_PARTS } from '../profiles/profile.rules.js';
import { MAX_PATH, MAX_SANS } from './content.js';

/** Which key a renewal has. */
export const RENEWAL_KEYS = ['new', 'same'] as const;
export const renewalKey = z.enum(RENEWAL_KEYS);

/** The subject of a new certificate. */
export const IssuedSubject = z
  .strictObject({
    commonName: subjectText(0).nullish().meta({
      description: 'Common name (CN), up to 64 characters. May be absent where there are alternative names.',
    }),
    ...SUBJECT_PARTS,
  })
  .meta({ description: 'The subject of a certificate. Parts that are absent are as the profile says; empty: none.' });

/** An alternative name. */
export const AlternativeName = z
  .strictObject({
    kind: nameKind.meta({ description: 'What it is.' }),
    value: storedText(1_024).meta({ description: 'The name: `*.example.com`, `192.0.2.7`, `ops@example.com`, a URI.' }),
  })
  .meta({ description: 'An alternative name of a subject.' });

const csr = pem.nullish();
const validDays = integer(1, MAX_DAYS).nullish();

/** Input of `issueCertificate`. */
export const IssueCertificate = z
  .strictObject({
    profileId: idOf('The certificate profile, which says what is allowed and which authority issues it.'),
    csr: csr.meta({
      description:
        'PEM: a certificate request (PKCS#10), which says all that the next seven fields would. Absent: a key is made and kept here.',
    }),
    subject: IssuedSubject.nullish().meta({ description: 'Whom the certificate is about.' }),
    sans: z.array(AlternativeName).max(MAX_SANS).nullish().meta({ description: 'Its alternative names.' }),
    keyAlgorithm: keyAlgorithm
      .nullish()
      .meta({ description: 'What its key is made with. Absent: as the profile says.' }),
    keyUsages: z.array(keyUsage).nullish().meta({
      description: 'What its key may be used for. Absent: as the profile says; empty: the certificate does not say.',
    }),
    extendedKeyUsages: z.array(extendedKeyUsage).nullish().meta({
      description: 'For which purposes. Absent: as the profile says; empty: the certificate does not say.',
    }),
    isCa: z.boolean().nullish().meta({ description: 'Whether it is the certificate of an authority.' }),
    pathLength: integer(0, MAX_PATH).nullish().meta({
      description: 'Of an authority, how many authorities may follow below, 0 to 10.',
    }),
    validDays: validDays.meta({
      description:
        'How long it is valid, in days, and no longer than its issuer and its profile. Absent: as the profile says, or 90 days, or as long as its issuer.',
    }),
    metadata: metadata.default([]),
    renewBeforeDays,
  })
  .meta({ description: 'A new certificate.' });

/** Fields of `IssueCertificate` that a request in PKCS#10 says. */
export const SAID_BY_CSR = [
  ...(['subject', 'sans', 'keyAlgorithm', 'keyUsages', 'extendedKeyUsages', 'isCa', 'pathLength'] as const),
] as const;

/** Input of `renewCertificate`. */
export const RenewCertificate = z
  .strictObject({
    id: idOf('The certificate, which must not have been renewed.'),
    expectedVersion,
    key: renewalKey.nullish().meta({
      description:
        'Which key the renewal has. Absent: that of `csr`; else a new one where the key is here, and the same one where not.',
    }),
    keyAlgorithm: keyAlgorithm.nullish().meta({
      description: 'With `key: new`: what that is made with. Absent: the same as before.',
    }),
    csr: csr.meta({
      description:
        'PEM: a certificate request with the key of the renewal. Its names are those of the certificate, or absent.',
    }),
    profileId: idOf('Another profile to renew it by; needed for one that was imported.').nullish(),
    validDays: validDays.meta({
      description: 'How long it is valid, in days. Absent: as long as the certificate was.',
    }),
  })
  .meta({ description: 'Which certificate to renew, and with which key.' });

/** Arguments of `currentCertificate`. */
export const OneLineage = z.strictObject({
  lineageId: idOf('The lineage: `lineageId` of a certificate.'),
});
