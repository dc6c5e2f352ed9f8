import type { Rule } from '../../../kernel/authz/ability.js';
import type { Fields } from '../../../kernel/authz/conditions.js';
import { readStoredRules } from '../../identity/permissions/public.js';
import type { PrivilegeRow } from './privilege.queries.js';
import type { MemberKind } from './privilege.rules.js';

/** A privilege as read from the database. */
export interface PrivilegeView extends Omit<PrivilegeRow, 'permissions'> {
  readonly rules: readonly Rule[];
  readonly isTemporary: boolean;
}

export const toPrivilegeView = ({ permissions, ...row }: PrivilegeRow): PrivilegeView => ({
  ...row,
  rules: readStoredRules(permissions),
  isTemporary: row.range !== null,
});

/** The fields of a member for conditions of rules. Conditions on a missing name do not match. */
export const fieldsOf = (member: {
  readonly memberKind: MemberKind;
  readonly memberId: string;
  readonly username: string | null;
}): Fields => {
  if (member.memberKind === 'identity') return { identityId: member.memberId };
  return member.username === null ? {} : { username: member.username };
};
