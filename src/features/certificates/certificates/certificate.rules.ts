import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, personText, storedText } from '../../../kernel/text-rules.js';
import { EVEN_IF_FAULTY, looseTexts } from '../../../kernel/validation.js';
import { expectedVersion } from '../../../kernel/version.js';
import { reason } from '../revocation/revocation.rules.js';

/** Whether a certificate holds. It may have expired all the same. */
export const CERTIFICATE_STATUSES = ['active', 'revoked'] as const;
export type CertificateStatus = (typeof CERTIFICATE_STATUSES)[number];

/** Where certificates come from. */
export const CERTIFICATE_SOURCES = ['imported', 'issued'] as const;
export type CertificateSource = (typeof CERTIFICATE_SOURCES)[number];

export const certificateStatus = z.enum(CERTIFICATE_STATUSES);

const MAX_METADATA = 50;
/** More is refused as a bundle, which says where. */
export const pem = storedText(1_048_576);

const projectId = idOf('The project, of the type `cert-manager`.');
const id = idOf('certificate');

/** An entry of the metadata of a certificate. */
export const Metadata = z
  .strictObject({
    key: personText(1, 255).meta({ description: 'Its name, 1 to 255 characters.' }),
    value: personText(0, 1_020).meta({ description: 'Up to 1,020 characters.' }),
  })
  .meta({ description: 'An entry of the metadata of a certificate.' });
export type MetadataEntry = z.output<typeof Metadata>;

/** The metadata of a certificate. */
export const metadata = z
  .array(Metadata)
  .max(MAX_METADATA)
  .refine(
    (entries) => {
      const keys = looseTexts(entries, 'key');
      return new Set(keys).size === keys.length;
    },
    { ...EVEN_IF_FAULTY, error: 'must name each key once' },
  )
  .meta({ description: 'Up to 50 entries, each key once. No secrets: it is stored as it is.' });

/** How many days before its end a certificate is renewed by the service. */
export const renewDays = integer(0, 3_650);
/** The same of one certificate. */
export const renewBeforeDays = renewDays.nullish().meta({
  description:
    'How many days before its end the service renews it, but not before half of its life is over; 0: never. Null: as its profile says.',
});

/** Input of `importCertificate`. */
export const ImportCertificate = z
  .strictObject({
    projectId,
    certificate: pem.meta({
      description:
        'PEM: the certificate, and if you like the certificates of its issuers and its private key, in any order; up to 64 KiB with `chain` and `privateKey`.',
    }),
    chain: pem.nullish().meta({ description: 'PEM: the certificates of its issuers, in any order.' }),
    privateKey: pem.nullish().meta({ description: 'PEM: its private key, not encrypted.' }),
    metadata: metadata.default([]),
  })
  .meta({ description: 'A certificate that was made elsewhere.' });

/** Input of `updateCertificate`. */
export const UpdateCertificate = z
  .strictObject({ id, expectedVersion, metadata: metadata.optional(), renewBeforeDays })
  .meta({ description: 'Changes of a certificate. What is absent stays.' });

/** Input of `revokeCertificate`. */
export const RevokeCertificate = z
  .strictObject({ id, reason })
  .meta({ description: 'A certificate that shall not hold any more.' });

/** Input of `deleteCertificate`, and arguments of `certificate` and `certificatePrivateKey`. */
export const OneCertificate = z.strictObject({ id }).meta({ description: 'Which certificate.' });

/** Arguments of `Project.certificates`. */
export const CertificateFilters = z.strictObject({
  search: storedText(255).nullish().meta({
    description:
      'Only those with this text in their common name or an alternative name, in any case, or with this serial number.',
  }),
  status: certificateStatus.nullish().meta({ description: 'Only active ones, or only revoked ones.' }),
  expiresBefore: z.date().nullish().meta({ description: 'Only those that expire before this time.' }),
  expiresAfter: z.date().nullish().meta({ description: 'Only those that expire at this time or later.' }),
  authorityId: idOf('Only those of this certificate authority.').nullish(),
  profileSlug: storedText(64).nullish().meta({ description: 'Only those issued by the profile with this slug.' }),
  metadata: z
    .array(Metadata)
    .max(MAX_METADATA)
    .nullish()
    .meta({ description: 'Only those with all of these entries.' }),
});

/** Arguments of `Project.certificateConnection`. */
export const CertificatePage = CertificateFilters.extend(pageRules);

/** Arguments of `certificates`. */
export const ListCertificates = CertificatePage.extend({ projectId });
