import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, slugText } from '../../../kernel/value-rules.js';
import { endOfTerm, Permissions, termRange, termStart } from '../../identity/permissions/public.js';

/** Kinds of members with privileges: the GraphQL enum is declared next to the types. */
export const memberKind = z.enum(['user', 'identity']);
export type MemberKind = z.output<typeof memberKind>;

/** The subject of permission rules that covers a kind of member. */
export const subjectOf = (kind: MemberKind): 'member' | 'identity' => (kind === 'user' ? 'member' : 'identity');

/** Slug of a privilege, unique for its member. */
export const privilegeSlug = slugText(1, 64);

/** Clients of the older form identify projects by slug. */
const project = {
  projectId: idOf('ID of the project. Set either this or the slug.').nullish(),
  projectSlug: slugText(1, 64).nullish().meta({ description: 'Slug of the project. Set either this or the ID.' }),
};
/** A project by ID or slug. */
export type ProjectByIdOrSlug = { readonly [Name in keyof typeof project]?: string | null | undefined };
const isOneProject = ({ projectId, projectSlug }: ProjectByIdOrSlug): boolean =>
  (projectId == null) !== (projectSlug == null);
const ONE_PROJECT = { path: ['projectId'], error: 'required unless projectSlug is set; set only one of them' };

const id = idOf('privilege');
const onlyIn = idOf('project of the privilege').nullish();
const kind = memberKind.meta({ description: 'Kind of the member: a user or a machine identity.' });
const memberId = idOf('ID of the user or machine identity.');
const slug = privilegeSlug.meta({
  description:
    'Slug of the privilege, for example `release-week`: lowercase words joined by hyphens, 1 to 64 characters, unique for the member.',
});
const permissions = Permissions.meta({
  description: 'Up to 100 permission rules, in order. They are evaluated after the rules of all roles of the member.',
});

/** Term of a privilege. */
export const PrivilegeTerm = z
  .strictObject({
    range: termRange.meta({ description: 'Duration: `30m`, `2h`, `7d` or `4w`, from 1 minute to 10 years.' }),
    startsAt: termStart.nullish().meta({ description: 'When the privilege starts; now when absent.' }),
  })
  .meta({ description: 'Term of a temporary privilege.' });

export const ListPrivileges = z
  .strictObject({
    ...project,
    memberKind: memberKind.nullish().meta({ description: 'Only privileges of members of this kind.' }),
    memberId: idOf('Only privileges of the member with this ID. Requires `memberKind`.').nullish(),
    ...pageRules,
  })
  .refine((asked) => asked.memberId == null || asked.memberKind != null, {
    path: ['memberKind'],
    error: 'required with memberId',
  })
  .refine(isOneProject, ONE_PROJECT);

export const OnePrivilege = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'The privilege, by ID.' });

const named = { ...project, memberKind: kind, memberId, slug };

export const PrivilegeBySlug = z
  .strictObject(named)
  .refine(isOneProject, ONE_PROJECT)
  .meta({ description: 'The member, and the privilege by slug.' });

export const CreatePrivilege = z
  .strictObject({
    ...project,
    memberKind: kind,
    memberId,
    slug: slug.nullish().meta({
      description:
        'Slug of the privilege, for example `release-week`: 1 to 64 characters, unique for the member. Generated when absent.',
    }),
    permissions,
    term: PrivilegeTerm.nullish().meta({ description: 'Term of the privilege; permanent when absent.' }),
  })
  .refine(isOneProject, ONE_PROJECT)
  .meta({ description: 'The member, and the fields of the new privilege.' });

const changes = {
  permissions: permissions.optional(),
  term: PrivilegeTerm.nullish().meta({
    description:
      'New term; starts now unless it says otherwise. Null makes the privilege permanent. Absent keeps the current term.',
  }),
};
const CHANGES = 'The privilege and its new fields. Absent fields keep their values.';

export const UpdatePrivilege = z
  .strictObject({ id, projectId: onlyIn, slug: slug.optional(), ...changes })
  .meta({ description: CHANGES });

export const UpdatePrivilegeBySlug = z
  .strictObject({
    ...named,
    newSlug: slug.optional().meta({ description: 'New slug, unique for the member.' }),
    ...changes,
  })
  .refine(isOneProject, ONE_PROJECT)
  .meta({ description: CHANGES });

/** Duration and start of a temporary assignment. */
interface Term {
  readonly range: string;
  readonly startsAt?: Date | null | undefined;
}

/** A term in the form of the database: empty for a permanent assignment. @param now the current time of the database */
export function termToColumns(
  term: Term | null | undefined,
  now: Date,
): { temporaryRange: string | null; startsAt: Date | null; endsAt: Date | null } {
  if (term == null) return { temporaryRange: null, startsAt: null, endsAt: null };
  const startsAt = term.startsAt ?? now;
  return { temporaryRange: term.range, startsAt, endsAt: endOfTerm(startsAt, term.range) };
}
