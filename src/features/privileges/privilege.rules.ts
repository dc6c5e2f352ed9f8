import { z } from 'zod';
import { pageRules } from '../../kernel/paging.js';
import { idOf, slugText } from '../../kernel/text-rules.js';
import { Permissions } from '../permissions/public.js';
import { termRange, termStart } from './privilege-term.rules.js';

/** Who can have privileges: its enum in GraphQL stands beside the types. */
export const memberKind = z.enum(['user', 'identity']);
export type MemberKind = z.output<typeof memberKind>;

/** The subject of rules that a kind of member belongs to. Source: behaviour 2. */
export const subjectOf = (kind: MemberKind): 'member' | 'identity' => (kind === 'user' ? 'member' : 'identity');

/** What a member names its privileges by. */
export const privilegeSlug = slugText(1, 64);

const projectId = idOf('The project.');
const id = idOf('The privilege.');
const onlyIn = idOf('The project that it belongs to.').nullish();
const kind = memberKind.meta({ description: 'Who it is: a user or a machine identity.' });
const memberId = idOf('Id of the user or machine identity.');
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
    projectId,
    memberKind: memberKind.nullish().meta({ description: 'Only those of users, or only those of machine identities.' }),
    memberId: idOf('Only those of this member, whose kind has to be given too.').nullish(),
    ...pageRules,
  })
  .refine((asked) => asked.memberId == null || asked.memberKind != null, {
    path: ['memberKind'],
    error: 'must be given beside memberId',
  });

export const OnePrivilege = z.strictObject({ id, projectId: onlyIn }).meta({ description: 'Which privilege.' });

const ONE_PROJECT = { path: ['projectId'], error: 'must be given, or else projectSlug, not both' };

export const PrivilegeBySlug = z
  .strictObject({
    projectId: idOf('The project; or give its slug.').nullish(),
    projectSlug: slugText(1, 64).nullish().meta({ description: 'The project, by its slug; or give its id.' }),
    memberKind: kind,
    memberId,
    slug,
  })
  .refine((key) => (key.projectId == null) !== (key.projectSlug == null), ONE_PROJECT);

export const CreatePrivilege = z
  .strictObject({
    projectId,
    memberKind: kind,
    memberId,
    slug: slug.nullish().meta({
      description: 'As `release-week`, 1 to 64 characters, unique for the member. Made up when absent.',
    }),
    permissions,
    term: PrivilegeTerm.nullish().meta({ description: 'For how long; for good when absent.' }),
  })
  .meta({ description: 'What a single member may do beside its roles.' });

export const UpdatePrivilege = z
  .strictObject({
    id,
    projectId: onlyIn,
    slug: slug.optional(),
    permissions: permissions.optional(),
    term: PrivilegeTerm.nullish().meta({
      description: 'For how long, from now on unless it says otherwise; null: for good. Absent: as it is.',
    }),
  })
  .meta({
    description: 'Changes of a privilege. What is absent stays; a list of permissions replaces the one before.',
  });
