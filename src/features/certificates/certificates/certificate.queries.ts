import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { RevocationReason } from '../revocation/revocation.rules.js';
import type { CertificateSchema } from './certificate.entity.js';
import type { CertificateSource, CertificateStatus, MetadataEntry } from './certificate.rules.js';

const tables = tablesOf<typeof CertificateSchema>();

/** Certificates by ID, in any project. */
export const findCertificates = prepared(({ ids }: { ids: readonly string[] }) =>
  tables
    .selectFrom('certificate')
    .select([
      'id',
      'organization_id as organizationId',
      'project_id as projectId',
      'authority_id as authorityId',
      'profile_id as profileId',
      'profile_slug as profileSlug',
      'lineage_id as lineageId',
      'renewed_from_id as renewedFromId',
      sql<CertificateSource>`source`.as('source'),
      'common_name as commonName',
      'sans',
      'serial_number as serialNumber',
      sql<CertificateStatus>`status`.as('status'),
      'revoked_at as revokedAt',
      sql<RevocationReason | null>`revocation_reason`.as('revocationReason'),
      'not_before as notBefore',
      'not_after as notAfter',
      'key_algorithm as keyAlgorithm',
      'fingerprint_sha256 as fingerprintSha256',
      sql<boolean>`key_sealed is not null`.as('hasPrivateKey'),
      'is_ca as isCa',
      'renew_before_days as renewBeforeDays',
      sql<readonly MetadataEntry[]>`metadata`.as('metadata'),
      'version',
      'created_at as createdAt',
      'updated_at as updatedAt',
    ])
    .where('id', '=', anyOf(ids)),
);

/** A certificate in a list: its properties, without PEM and key. */
export type CertificateRow = Awaited<ReturnType<typeof findCertificates>>[number];

/** The PEM of certificates and of their chains. */
export const findPems = prepared(({ ids }: { ids: readonly string[] }) =>
  tables.selectFrom('certificate').select(['id', 'certificate', 'chain']).where('id', '=', anyOf(ids)),
);

/** The sealed key of a certificate. */
export const findSealedKey = prepared(({ ids }: { ids: readonly string[] }) =>
  tables.selectFrom('certificate').select(['id', 'key_sealed as keySealed']).where('id', '=', anyOf(ids)),
);

/** All common names in projects, to evaluate conditions of rules. */
export const listCommonNames = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  tables
    .selectFrom('certificate')
    .select(['project_id as projectId', 'common_name as commonName'])
    .distinct()
    .where('project_id', '=', anyOf(projectIds)),
);
