import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID, textsOfField } from '../../../kernel/validation.js';
import { expectedVersion, idOf, integer, personText, storedText } from '../../../kernel/value-rules.js';
import { reason } from '../revocation/revocation.rules.js';

/** Statuses of a certificate, whether it has expired or not. */
const CERTIFICATE_STATUSES = ['active', 'revoked'] as const;
export type CertificateStatus = (typeof CERTIFICATE_STATUSES)[number];

/** Sources of certificates. */
const CERTIFICATE_SOURCES = ['imported', 'issued'] as const;
export type CertificateSource = (typeof CERTIFICATE_SOURCES)[number];

export const certificateStatus = z.enum(CERTIFICATE_STATUSES);

const MAX_METADATA = 50;
/** Longer strings are rejected when the bundle is parsed, with the location. */
export const pem = storedText(1_048_576);

const projectId = idOf('ID of the project. It must be of type `cert-manager`.');
const id = idOf('certificate');

/** An entry of the metadata of a certificate. */
export const Metadata = z
  .strictObject({
    key: personText(1, 255).meta({ description: 'Key of the entry, 1 to 255 characters.' }),
    value: personText(0, 1_020).meta({ description: 'Value of the entry, up to 1,020 characters.' }),
  })
  .meta({ description: 'A metadata entry of a certificate.' });
export type MetadataEntry = z.output<typeof Metadata>;

/** The metadata of a certificate. */
export const metadata = z
  .array(Metadata)
  .max(MAX_METADATA)
  .refine(
    (entries) => {
      const keys = textsOfField(entries, 'key');
      return new Set(keys).size === keys.length;
    },
    { ...EVEN_IF_INVALID, error: 'must not contain duplicate keys' },
  )
  .meta({ description: 'Metadata, up to 50 entries with unique keys. Stored unencrypted: do not put secrets here.' });

/** How many days before expiration the service renews a certificate. */
export const renewDays = integer(0, 3_650);
/** The same setting of one certificate. */
export const renewBeforeDays = renewDays.nullish().meta({
  description:
    'How many days before expiration the service renews the certificate, but not before half of its validity. 0: never. Null: the setting of its profile.',
});

/** The certificate that an imported one replaces. */
export const replacesId = idOf(
  'ID of the certificate of the project that the imported one replaces, as a renewal would. It must not be renewed yet. Requires `edit` on it.',
).nullish();

/** Input of `importCertificate`. */
export const ImportCertificate = z
  .strictObject({
    projectId,
    certificate: pem.meta({
      description:
        'PEM: the certificate, optionally with the certificates of its issuers and its private key, in any order. Up to 64 KiB including `chain` and `privateKey`.',
    }),
    chain: pem.nullish().meta({ description: 'PEM: the certificates of its issuers, in any order.' }),
    privateKey: pem.nullish().meta({ description: 'PEM: the private key, unencrypted.' }),
    replacesId,
    metadata: metadata.default([]),
  })
  .meta({ description: 'The certificate to import.' });

/** Input of `updateCertificate`. */
export const UpdateCertificate = z
  .strictObject({ id, expectedVersion, metadata: metadata.optional(), renewBeforeDays })
  .meta({ description: 'Fields of the certificate to change. Absent fields keep their value.' });

/** Input of `revokeCertificate`. */
export const RevokeCertificate = z
  .strictObject({ id, reason })
  .meta({ description: 'The certificate to revoke, by ID, and the reason.' });

/** Input of `deleteCertificate`, and arguments of `certificate` and `certificatePrivateKey`. */
export const OneCertificate = z.strictObject({ id }).meta({ description: 'The certificate, by ID.' });

/** Arguments of `Project.certificates`. */
export const CertificatePage = z.strictObject({
  ...pageRules,
  search: storedText(255).nullish().meta({
    description:
      'Only certificates whose common name or alternative names contain this string, case-insensitive, or that have this serial number.',
  }),
  status: certificateStatus.nullish().meta({ description: 'Only certificates with this status.' }),
  expiresBefore: z.date().nullish().meta({ description: 'Only certificates that expire before this time.' }),
  expiresAfter: z.date().nullish().meta({ description: 'Only certificates that expire at or after this time.' }),
  authorityId: idOf('ID of a certificate authority: only certificates that it issued.').nullish(),
  profileSlug: storedText(64)
    .nullish()
    .meta({ description: 'Only certificates issued by the profile with this slug.' }),
  metadata: z
    .array(Metadata)
    .max(MAX_METADATA)
    .nullish()
    .meta({ description: 'Only certificates with all of these metadata entries.' }),
});

/** Arguments of `certificates`. */
export const ListCertificates = CertificatePage.extend({ projectId });
