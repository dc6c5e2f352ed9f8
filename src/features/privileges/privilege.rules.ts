import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf, slugText } from '../../kernel/text-rules.js';
import { Permissions, termRange, termStart } from '../permissions/public.js';

/** Who can have privileges: its enum in GraphQL stands beside the types. */
export const memberKind = z.enum(['user', 'identity']);
export type MemberKind = z.output<typeof memberKind>;

/** The subject of rules that a kind of member belongs to. */
export const subjectOf = (kind: MemberKind): 'member' | 'identity' => (kind === 'user' ? 'member' : 'identity');

/** What a member names its privileges by. */
export const privilegeSlug = slugText(1, 64);

/** Clients of the older form know projects by their slugs. */
const project = {
  projectId: idOf('The project; or give its slug.').nullish(),
  projectSlug: slugText(1, 64).nullish().meta({ description: 'The project, by its slug; or give its id.' }),
};
/** A project by its id or its slug. */
export type ProjectNamed = { readonly [Name in keyof typeof project]?: string | null | undefined };
const isOneProject = ({ projectId, projectSlug }: ProjectNamed): boolean =>
  (projectId == null) !== (projectSlug == null);
const ONE_PROJECT = { path: ['projectId'], error: 'must be given, or else projectSlug, not both' };

const id = idOf('privilege');
const onlyIn = idOf('project that it belongs to').nullish();
const kind = memberKind.meta({ description: 'Who it is: a user or a machine identity.' });
const memberId = idOf('ID of the user or machine identity.');
const slug = privilegeSlug.meta({
  description: 'Lower-case words joined by hyphens, as `release-week`, 1 to 64 characters, unique for the member.',
});
const permissions = Permissions.meta({
  description: 'Up to 100 rules, in order. They follow on those of all its roles.',
});

/** For how long a privilege holds. */
export const PrivilegeTerm = z
  .strictObject({
    range: termRange.meta({ description: 'How long, as `30m`, `2h`, `7d` or `4w`: 1 minute to 10 years.' }),
    startsAt: termStart.nullish().meta({ description: 'From when on; from now on when absent.' }),
  })
  .meta({ description: 'For how long it holds.' });

export const ListPrivileges = z
  .strictObject({
    ...project,
    memberKind: memberKind.nullish().meta({ description: 'Only those of users, or only those of machine identities.' }),
    memberId: idOf('Only those of this member, whose kind has to be given too.').nullish(),
    ...pageRules,
  })
  .refine((asked) => asked.memberId == null || asked.memberKind != null, {
    path: ['memberKind'],
    error: 'must be given beside memberId',
  })
  .refine(isOneProject, ONE_PROJECT);

export const OnePrivilege = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'Which privilege.' });

const named = { ...project, memberKind: kind, memberId, slug };

export const PrivilegeBySlug = z
  .strictObject(named)
  .refine(isOneProject, ONE_PROJECT)
  .meta({ description: 'Which privilege of which member.' });

export const CreatePrivilege = z
  .strictObject({
    ...project,
    memberKind: kind,
    memberId,
    slug: slug.nullish().meta({
      description: 'As `release-week`, 1 to 64 characters, unique for the member. Made up when absent.',
    }),
    permissions,
    term: PrivilegeTerm.nullish().meta({ description: 'For how long; for good when absent.' }),
  })
  .refine(isOneProject, ONE_PROJECT)
  .meta({ description: 'What a single member may do beside its roles.' });

const changes = {
  permissions: permissions.optional(),
  term: PrivilegeTerm.nullish().meta({
    description: 'For how long, from now on unless it says otherwise; null: for good. Absent: as it is.',
  }),
};
const CHANGES = 'Changes of a privilege. What is absent stays; a list of permissions replaces the one before.';

export const UpdatePrivilege = z
  .strictObject({ id, projectId: onlyIn, slug: slug.optional(), ...changes })
  .meta({ description: CHANGES });

export const UpdatePrivilegeBySlug = z
  .strictObject({
    ...named,
    newSlug: slug.optional().meta({ description: 'A new slug, unique for the member.' }),
    ...changes,
  })
  .refine(isOneProject, ONE_PROJECT)
  .meta({ description: CHANGES });
