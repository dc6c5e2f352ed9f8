import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
import { roleSlug } from './role.rules.js';

/** Who can be a member. */
export const MEMBER_KINDS = ['user', 'identity'] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

/** Whether no word comes twice. */
export const isEachOnce = (words: readonly string[]): boolean => new Set(words).size === words.length;

/** What a list of roles breaks that names one twice. */
export const ROLE_TWICE = { error: 'must name each role once' };

/** How many roles a member can have. */
export const MAX_ROLES = 10;

/** Roles of a member, each once: built-in ones and those of the project. The order counts: see `rulesOfRoles`. */
export const RoleSlugs = z.array(roleSlug).min(1).max(MAX_ROLES).refine(isEachOnce, ROLE_TWICE);

/** A member of a project, as the one key of all membership verbs. */
export const MemberKey = z.strictObject({
  projectId: z.string(),
  memberKind: z.enum(MEMBER_KINDS),
  memberId: z.string(),
});

/** Input of `addProjectMember` and `updateProjectMember`. Source: behaviour 10 (Identity in project). */
export const MemberRoles = MemberKey.extend({ roles: RoleSlugs });

/** How many users one call can add. */
const MAX_USERNAMES = 100;
const username = z.string().trim().min(1).max(255).refine(isStorable, NOT_STORABLE);
export const usernames = z.array(username).max(MAX_USERNAMES);

/** Input of `addProjectUsers`. */
export const AddUsers = z.strictObject({
  projectId: z.string(),
  usernames: usernames.min(1).refine(isEachOnce, { error: 'must name each user once' }),
  roles: RoleSlugs,
});

/** Arguments of the list of members. */
export const ListMembers = z.strictObject({
  projectId: z.string(),
  memberKind: z.enum(MEMBER_KINDS).nullish(),
  ...pageRules,
});

/** The subject of rules that a kind of member belongs to. Source: behaviour 2. */
export const subjectOf = (kind: MemberKind): 'member' | 'identity' => (kind === 'user' ? 'member' : 'identity');

/** Paging of a list of members inside of another answer. */
export const Paging = z.strictObject(pageRules);
