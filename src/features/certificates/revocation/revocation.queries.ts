import { sql } from 'kysely';
import { prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { CertificateRevocationSchema } from './revocation.entity.js';

const tables = tablesOf<typeof CertificateRevocationSchema>();

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
