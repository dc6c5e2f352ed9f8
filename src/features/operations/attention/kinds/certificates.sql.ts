// Parts of statements: rows of kinds.
import { IS_SUPERSEDED } from '../../../notifications/alert-deliveries/public.js';
import { rowsOf, type Source } from './kind.sql.js';

const RENEW = { field: 'renewCertificate', right: { project: 'certificate-profiles:issue-cert' } } as const;

/** Columns of a certificate `c`. */
const CERTIFICATE = {
  ...{ of: 'c', name: 'c.common_name' },
  fields: `jsonb_build_object('commonName', c.common_name)`,
} as const;

/** Certificates in force that nothing has replaced. */
const IN_FORCE = `c.status = 'active' and not ${IS_SUPERSEDED}`;

/**
 * When the last days of a certificate `c` begin. Those with a short validity would always be in their last month: a third of the
 * validity is the most.
 */
const lastDays = (days: number): string =>
  `c.not_after - least(interval '${days} days', (c.not_after - c.not_before) / 3)`;

const certificates = (since: string, where: string): Source => ({
  subject: 'Certificate',
  reader: 'certificates',
  rows: rowsOf({ ...CERTIFICATE, from: 'certificate c', since, where: `${where} and ${IN_FORCE}` }),
  helps: [RENEW],
});

/** It expires within some days, and not within fewer. */
const expiring = (days: number, notWithin: number): string =>
  `c.not_after > now() and c.not_after <= now() + interval '${days} days' and ${lastDays(days)} <= now()
      ${notWithin === 0 ? '' : `and ${lastDays(notWithin)} > now()`}`;

/** It has expired within the last month. */
const HAS_EXPIRED = `c.not_after <= now() and c.not_after > now() - interval '30 days'`;
export const EXPIRED = certificates('c.not_after', HAS_EXPIRED);
export const EXPIRING_IN_DAYS = certificates(lastDays(7), expiring(7, 0));
export const EXPIRING_IN_A_MONTH = certificates(lastDays(30), expiring(30, 7));

const authorities = (since: string, where: string): Source => ({
  subject: 'CertificateAuthority',
  reader: 'authorities',
  rows: rowsOf({ of: 'c', from: 'certificate_authority c', where: `c.status = 'active' and ${where}`, since }),
  helps: [{ field: 'renewCertificateAuthority', right: { project: 'certificate-authorities:edit' } }],
});

/** The same of authorities. */
export const AUTHORITY_EXPIRED = authorities('c.not_after', HAS_EXPIRED);
export const AUTHORITY_EXPIRING_IN_DAYS = authorities(lastDays(7), expiring(7, 0));
export const AUTHORITY_EXPIRING_IN_A_MONTH = authorities(lastDays(30), expiring(30, 7));

/** Automatic renewals whose last attempt failed. */
export const RENEWAL_FAILED: Source = {
  subject: 'Certificate',
  reader: 'certificates',
  rows: rowsOf({
    ...CERTIFICATE,
    from: 'certificate_request q join certificate c on c.id = q.certificate_id',
    where: `q.state = 'failed' and q.is_automatic and c.not_after > now() and ${IN_FORCE}
      and not exists (select from certificate n where n.renewed_from_id = c.id)
      and not exists (select from certificate_request l where l.certificate_id = c.id and (l.created_at, l.id) > (q.created_at, q.id)
        and l.state <> 'pending')`,
    since: `(select min(f.created_at) from certificate_request f where f.certificate_id = c.id and f.state = 'failed' and f.is_automatic)`,
    code: 'q.error_code',
  }),
  helps: [RENEW],
};
