import type { Rule } from '../../kernel/authz/ability.js';
import type { Fields } from '../../kernel/authz/conditions.js';
import { readStoredRules } from '../permissions/public.js';
import type { MemberKind } from './privilege.rules.js';
import type { findPrivileges } from './privilege.sql.js';

type PrivilegeRow = Awaited<ReturnType<typeof findPrivileges>>[number];

/** A privilege as it is read. */
export interface PrivilegeView extends Omit<PrivilegeRow, 'permissions'> {
  readonly rules: readonly Rule[];
  readonly isTemporary: boolean;
}

export const toPrivilegeView = ({ permissions, ...row }: PrivilegeRow): PrivilegeView => ({
  ...row,
  rules: readStoredRules(permissions),
  isTemporary: row.range !== null,
});

/** What conditions of rules look at of a member. One without a name has none that fits. */
export const fieldsOf = (member: {
  readonly memberKind: MemberKind;
  readonly memberId: string;
  readonly username: string | null;
}): Fields => {
  if (member.memberKind === 'identity') return { identityId: member.memberId };
  return member.username === null ? {} : { username: member.username };
};
