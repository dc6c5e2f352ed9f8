import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** The domains at which people may get mails of an organization: its own, or else those of its root. Empty: any. */
export const findEmailDomains = sqlStatement({
  text: `
    select case when o.allowed_email_domains = '{}' then coalesce(r.allowed_email_domains, '{}') else o.allowed_email_domains end as domains
    from organization o left join organization r on r.id = o.parent_id where o.id = :organizationId`,
  params: { organizationId: t.uuid },
  row: { domains: t.array(t.text) },
});
