import * as z from 'zod';
import { boundedPageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { expectedVersion, idOf, integer, storedText } from '../../../kernel/value-rules.js';
import { CreateAuthority, keyAlgorithm, nameKind, subjectText } from '../authorities/authority.rules.js';
import { lifetime, MAX_DAYS, refuseTwoLifetimes } from '../authorities/lifetime.rules.js';
import { metadata, pem, renewBeforeDays } from '../certificates/certificate.rules.js';
import { extendedKeyUsage, keyUsage, SUBJECT_PARTS } from '../profiles/profile.rules.js';
import { MAX_PATH, MAX_SANS } from './content.js';
import { REQUEST_KINDS, REQUEST_STATES } from './request.entity.js';

/** Keys of a renewal. */
export const RENEWAL_KEYS = ['new', 'same'] as const;
export const renewalKey = z.enum(RENEWAL_KEYS);

/** The subject of a new certificate. */
export const IssuedSubject = z
  .strictObject({
    commonName: subjectText(0).nullish().meta({
      description: 'Common name (CN), up to 64 characters. Optional if there are alternative names.',
    }),
    ...SUBJECT_PARTS,
  })
  .meta({
    description: 'Subject of a certificate. Absent attributes are set by the profile; empty strings mean none.',
  });

/** An alternative name. */
export const AlternativeName = z
  .strictObject({
    kind: nameKind.meta({ description: 'Kind of the name.' }),
    value: storedText(1_024).meta({
      description: 'Name, for example `*.example.com`, `192.0.2.7`, `ops@example.com` or a URI.',
    }),
  })
  .meta({ description: 'A subject alternative name.' });

const csr = pem.nullish();
const validDays = integer(1, MAX_DAYS).nullish();

/** Input of `issueCertificate`. */
export const IssueCertificate = z
  .strictObject({
    profileId: idOf(
      'ID of the certificate profile. It defines what is allowed and which authority issues the certificate.',
    ),
    csr: csr.meta({
      description:
        'PEM: a certificate request (PKCS#10), which replaces `subject`, `sans`, `keyAlgorithm`, `keyUsages`, `extendedKeyUsages`, `isCa` and `pathLength`. Absent: the service generates and stores a key.',
    }),
    subject: IssuedSubject.nullish().meta({ description: 'Subject of the certificate.' }),
    sans: z.array(AlternativeName).max(MAX_SANS).nullish().meta({ description: 'Subject alternative names.' }),
    keyAlgorithm: keyAlgorithm.nullish().meta({ description: 'Algorithm of the key. Absent: set by the profile.' }),
    keyUsages: z.array(keyUsage).nullish().meta({
      description: 'Key usages. Absent: set by the profile; an empty list omits the extension.',
    }),
    extendedKeyUsages: z.array(extendedKeyUsage).nullish().meta({
      description: 'Extended key usages. Absent: set by the profile; an empty list omits the extension.',
    }),
    isCa: z.boolean().nullish().meta({ description: 'Whether it is a CA certificate.' }),
    pathLength: integer(0, MAX_PATH).nullish().meta({
      description: 'Path length of a CA certificate: maximum number of authorities below it, 0 to 10.',
    }),
    validDays: validDays.meta({
      description:
        'Validity in days, but not beyond its issuer or the limit of the profile. Absent: set by the profile, or 90 days, or until the issuer expires.',
    }),
    ...lifetime,
    metadata: metadata.default([]),
    renewBeforeDays,
  })
  .superRefine(refuseTwoLifetimes, EVEN_IF_INVALID)
  .meta({ description: 'Fields of the new certificate.' });

/** Fields of `IssueCertificate` that a PKCS#10 request replaces. */
export const REPLACED_BY_CSR = [
  ...(['subject', 'sans', 'keyAlgorithm', 'keyUsages', 'extendedKeyUsages', 'isCa', 'pathLength'] as const),
] as const;

/** Input of `renewCertificate`. */
export const RenewCertificate = z
  .strictObject({
    id: idOf('ID of the certificate. It must not have been renewed already.'),
    expectedVersion,
    key: renewalKey.nullish().meta({
      description:
        'Whether the renewal has a new key or the same one. Absent: the key of `csr`; otherwise a new key if the current one is stored here, else the same one.',
    }),
    keyAlgorithm: keyAlgorithm.nullish().meta({
      description: 'Algorithm of a new key. Absent: the same algorithm as before.',
    }),
    csr: csr.meta({
      description:
        'PEM: a certificate request (PKCS#10) with the key of the renewal. Its names must equal those of the certificate, or be absent.',
    }),
    profileId: idOf(
      'ID of another profile to renew by. Required if the certificate has none, for example because it was imported.',
    ).nullish(),
    validDays: validDays.meta({
      description: 'Validity in days. Absent: the validity of the current certificate.',
    }),
    ...lifetime,
  })
  .superRefine(refuseTwoLifetimes, EVEN_IF_INVALID)
  .meta({ description: 'The certificate to renew, by ID, and its new key.' });

/** Arguments of `currentCertificate`. */
export const OneLineage = z.strictObject({
  lineageId: idOf('ID of the lineage: `lineageId` of a certificate.'),
});

/** Input of `signIntermediateCertificate`. */
export const SignIntermediate = z
  .strictObject({
    authorityId: idOf('certificate authority that signs the certificate'),
    // Longer strings are rejected when the request is parsed.
    request: storedText(1_048_576).meta({
      description:
        'PEM: the certificate request (PKCS#10) of the external authority. Only its subject and key are used.',
    }),
    maxPathLength: CreateAuthority.shape.maxPathLength,
    nameConstraints: CreateAuthority.shape.nameConstraints,
    validDays: integer(1, MAX_DAYS).nullish().meta({
      description:
        'Validity of the certificate in days, 1 to 36,500, but not beyond its issuer. Absent: 5 years, or until the issuer expires.',
    }),
    ...lifetime,
    metadata: metadata.default([]),
  })
  .superRefine(refuseTwoLifetimes, EVEN_IF_INVALID)
  .meta({ description: 'The certificate request of the external authority, and the authority that signs.' });

export const requestKind = z.enum(REQUEST_KINDS);
export const requestState = z.enum(REQUEST_STATES);

/** Arguments of `certificateRequests`. */
export const ListRequests = z.strictObject({
  projectId: idOf('ID of the project. It must be of type `cert-manager`.'),
  state: requestState.nullish().meta({ description: 'Only requests in this state.' }),
  kind: requestKind.nullish().meta({ description: 'Only requests of this kind.' }),
  certificateId: idOf('ID of a certificate: only the request that issued it and requests to renew it.').nullish(),
  ...boundedPageRules,
});

/** Arguments of `certificateRequest`. */
export const OneRequest = z.strictObject({ id: idOf('certificate request') });
