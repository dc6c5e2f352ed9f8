import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CertificateAuthoritySchema } from '../authorities/authority.entity.js';
import type { CertificateAuthorityHistorySchema } from '../authorities/authority-history.entity.js';
import type { CertificateRevocationSchema } from './revocation.entity.js';
import type { RevocationReason } from './revocation.rules.js';

const tables = tablesOf<
  typeof CertificateAuthoritySchema | typeof CertificateAuthorityHistorySchema | typeof CertificateRevocationSchema
>();

interface Listed {
  readonly authorityId: string;
  /** How long expired certificates stay in the list. */
  readonly keepSeconds: number;
}

/** Entries of the next list of an authority, by serial number: listed ones and new ones. */
export const listRevocations = prepared(({ authorityId, keepSeconds }: Listed) => {
  const isCurrent = sql<boolean>`not_after > now() - make_interval(secs => ${keepSeconds})`;
  return tables
    .selectFrom('certificate_revocation')
    .select(['serial_number as serialNumber', 'revoked_at as revokedAt', 'reason', 'is_listed as isListed'])
    .select(isCurrent.as('isCurrent'))
    .where('authority_id', '=', authorityId)
    .where(({ not, or, ref }) => or([not(ref('is_listed')), isCurrent]))
    .orderBy('serial_number');
});

/** An authority with a certificate. */
export const findResponder = prepared(({ authorityId }: { authorityId: string }) =>
  tables
    .selectFrom('certificate_authority')
    .select(['organization_id as organizationId', 'project_id as projectId', 'certificate', 'key_sealed as keySealed'])
    .select(sql<Date>`now()`.as('now'))
    .where('id', '=', authorityId)
    .where('certificate', 'is not', null)
    .$narrowType<{ certificate: string }>(),
);

/** Stores the revocations of former certificates of an authority that have not expired. */
export const revokeFormer = prepared(({ authorityId, reason }: { authorityId: string; reason: RevocationReason }) =>
  tables
    .insertInto('certificate_revocation')
    .columns(['authority_id', 'serial_number', 'organization_id', 'project_id', 'revoked_at', 'reason', 'not_after'])
    .expression((former) =>
      former
        .selectFrom('certificate_authority_history')
        .select(['parent_id', 'serial_number', 'organization_id', 'project_id'])
        .select([sql<Date>`now()`.as('revoked_at'), sql<string>`${reason}::text`.as('reason'), 'not_after'])
        .where('authority_id', '=', authorityId)
        .where('parent_id', 'is not', null)
        .$narrowType<{ parent_id: string }>()
        .where('not_after', '>', sql<Date>`now()`),
    )
    .onConflict((revoked) => revoked.doNothing()),
);
