import { Foundation } from './0001-foundation.js';
import { SecretLife } from './0002-secret-life.js';
import { UniversalAuth } from './0003-universal-auth.js';
import { ProjectRoles } from './0004-project-roles.js';
import { Idempotency } from './0005-idempotency.js';
import { SecretSearch } from './0006-secret-search.js';
import { WholeHistories } from './0007-whole-histories.js';
import { RateLimitCounts } from './0008-rate-limits.js';
import { AuditSeals } from './0009-audit-seals.js';
import { TokenFamilies } from './0010-token-families.js';
import { SeparateSeals } from './0012-separate-seals.js';
import { ProjectDigests } from './0013-project-digests.js';
import { Disclosures } from './0014-disclosures.js';
import { Groups } from './0015-groups.js';
import { ProjectTemplates } from './0016-project-templates.js';
import { ProjectIdentities } from './0017-project-identities.js';
import { RulesDigests } from './0018-rules-digests.js';
import { ProjectRescues } from './0019-project-rescues.js';
import { TokenLists } from './0020-token-lists.js';
import { EndedMembers } from './0022-ended-members.js';
import { LastingRescues } from './0023-lasting-rescues.js';
import { UsableAdmins } from './0026-usable-admins.js';

/** Every migration, oldest first. A name stands in databases for ever: append, never rename or edit one that was released. */
export const migrations = [
  { name: '0001-foundation', class: Foundation },
  { name: '0002-secret-life', class: SecretLife },
  { name: '0003-universal-auth', class: UniversalAuth },
  { name: '0004-project-roles', class: ProjectRoles },
  { name: '0005-idempotency', class: Idempotency },
  { name: '0006-secret-search', class: SecretSearch },
  { name: '0007-whole-histories', class: WholeHistories },
  { name: '0008-rate-limits', class: RateLimitCounts },
  { name: '0009-audit-seals', class: AuditSeals },
  { name: '0010-token-families', class: TokenFamilies },
  { name: '0012-separate-seals', class: SeparateSeals },
  { name: '0013-project-digests', class: ProjectDigests },
  { name: '0014-disclosures', class: Disclosures },
  { name: '0015-groups', class: Groups },
  { name: '0016-project-templates', class: ProjectTemplates },
  { name: '0017-project-identities', class: ProjectIdentities },
  { name: '0018-rules-digests', class: RulesDigests },
  { name: '0019-project-rescues', class: ProjectRescues },
  { name: '0020-token-lists', class: TokenLists },
  { name: '0022-ended-members', class: EndedMembers },
  { name: '0023-lasting-rescues', class: LastingRescues },
  { name: '0026-usable-admins', class: UsableAdmins },
] as const;
