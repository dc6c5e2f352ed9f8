import { sql } from 'kysely';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { CertificateSchema } from './certificate.entity.js';

const tables = tablesOf<typeof CertificateSchema>();

/** Certificates by ID, in any project. */
export const findCertificates = prepared(({ ids }: { ids: readonly string[] }) =>
  tables
    .selectFrom('certificate')
    .select(columnsOf(CertificateSchema, 'namesDigest', 'certificate', 'chain', 'keySealed'))
    .select(sql<boolean>`key_sealed is not null`.as('hasPrivateKey'))
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
