import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf, isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
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

const projectId = idOf('The project.');
/** Who it is: its enum in GraphQL stands beside the types. */
export const memberKind = z.enum(MEMBER_KINDS);

/** A member of a project: input of `removeProjectMember`, and arguments of `projectMembership`. */
export const MemberKey = z
  .strictObject({
    projectId,
    memberKind: memberKind.meta({ description: 'Who it is.' }),
    memberId: idOf('Id of the user or identity.'),
  })
  .meta({ description: 'A member of a project.' });

/** Input of `addProjectMember`. Source: behaviour 10 (Identity in project). */
export const AddMember = MemberKey.extend({
  roles: RoleSlugs.meta({
    description:
      'Slugs of 1 to 10 roles, each once: `admin`, `member`, `viewer`, `no-access`, and roles of the project. The built-in ones come first, whatever the order; later rules win.',
  }),
}).meta({ description: 'Who of the organization joins a project, and as what.' });

/** Input of `updateProjectMember`. Source: behaviour 10 (Identity in project). */
export const UpdateMember = MemberKey.extend({
  roles: RoleSlugs.meta({ description: 'Slugs of 1 to 10 roles, each once. They replace the ones before.' }),
}).meta({ description: 'The roles that a member has from now on.' });

/** How many users one call can add. */
const MAX_USERNAMES = 100;
const username = z.string().trim().min(1).max(255).refine(isStorable, NOT_STORABLE);
export const usernames = z.array(username).max(MAX_USERNAMES);

/** Input of `addProjectUsers`. */
export const AddUsers = z
  .strictObject({
    projectId,
    usernames: usernames
      .min(1)
      .refine(isEachOnce, { error: 'must name each user once' })
      .meta({ description: 'Usernames, 1 to 100, each once.' }),
    roles: RoleSlugs.meta({ description: 'Slugs of 1 to 10 roles, each once, for all of them.' }),
  })
  .meta({ description: 'Which users of the organization join a project, by name, and as what.' });

/** Arguments of the list of members. */
export const ListMembers = z.strictObject({
  projectId,
  memberKind: memberKind.nullish().meta({ description: 'Only people, or only machine identities.' }),
  ...pageRules,
});

/** The subject of rules that a kind of member belongs to. Source: behaviour 2. */
export const subjectOf = (kind: MemberKind): 'member' | 'identity' => (kind === 'user' ? 'member' : 'identity');
