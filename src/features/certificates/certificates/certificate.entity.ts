import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';
import type { RevocationReason } from '../revocation/revocation.rules.js';
import type { CertificateSource, CertificateStatus, MetadataEntry } from './certificate.rules.js';

export const CertificateSchema = defineEntity({
  name: 'Certificate',
  tableName: 'certificate',
  uniques: [
    { name: 'certificate_fingerprint_unique', properties: ['projectId', 'fingerprintSha256'] },
    { name: 'certificate_serial_unique', properties: ['authorityId', 'serialNumber'] },
    { name: 'certificate_renewed_from_unique', properties: ['renewedFromId'] },
  ],
  indexes: [{ name: 'certificate_serial_number_index', properties: ['serialNumber'] }],
  properties: {
    ...projectColumns,
    authorityId: p.uuid().nullable(),
    profileId: p.uuid().nullable(),
    profileSlug: p.text().nullable(),
    lineageId: p.uuid(),
    renewedFromId: p.uuid().nullable(),
    source: p.text().$type<CertificateSource>(),
    commonName: p.text(),
    sans: p.array(),
    /** Made by a trigger. */
    namesDigest: p.blob().$type<Opt<Buffer>>(),
    serialNumber: p.text(),
    status: p.text().$type<CertificateStatus>().default('active'),
    revokedAt: p.datetime(3).nullable(),
    revocationReason: p.text().$type<RevocationReason>().nullable(),
    notBefore: p.datetime(3),
    notAfter: p.datetime(3),
    keyAlgorithm: p.text(),
    fingerprintSha256: p.text(),
    certificate: p.text(),
    chain: p.text().default(''),
    keySealed: p.blob().nullable(),
    isCa: p.boolean(),
    renewBeforeDays: p.integer().nullable(),
    metadata: p.json<readonly MetadataEntry[]>().defaultRaw(`'[]'`),
    version: p.integer().default(1),
  },
});

/**
 * A certificate in the inventory of a project. Its private key, if stored, is sealed for this row. `version` increments with every
 * change; the certificate itself never changes.
 */
export class Certificate extends CertificateSchema.class {}
CertificateSchema.setClass(Certificate);
