import { can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { emOf } from '../../../kernel/database/database.js';
import { DEFAULT_ENVIRONMENTS, fieldsOf, subjectOf } from '../../projects/public.js';
import { ProjectTemplate } from './template.entity.js';
import type { TemplateEnvironment } from './template.rules.js';
import type { TemplateView } from './template.view.js';
import { type FutureMember, type MemberKind, membersOfTemplate } from './template-application.js';
import { findMemberships } from './template-members.sql.js';

/** A future member of a project and its roles. */
interface PreviewedMember {
  readonly memberKind: MemberKind | 'project-identity';
  /** Username, slug of the group, or name of the identity; null if the caller cannot read it. */
  readonly name: string | null;
  readonly isCaller: boolean;
  readonly roles: readonly string[];
}

/** A member that would be skipped, and why. */
interface PreviewedSkip {
  readonly memberKind: MemberKind;
  /** Null if the caller cannot read such members. */
  readonly memberId: string | null;
  readonly roles: readonly string[];
  readonly reason: 'gone' | 'ended';
}

/** What a project created from a template now would get. */
export interface TemplatePreview {
  readonly template: TemplateView;
  readonly environments: readonly TemplateEnvironment[];
  readonly members: readonly PreviewedMember[];
  readonly skipped: readonly PreviewedSkip[];
}

const isReadable = ({ ability }: Context, kind: MemberKind, { id, name }: { id: string; name: string }): boolean =>
  can(ability, `${subjectOf(kind)}:read`, fieldsOf(kind, { memberId: id, name, groupSlug: name }));

/** The preview of a project that the caller creates from a template without further options. */
export async function previewOf(ctx: Context, template: TemplateView): Promise<TemplatePreview> {
  const listed = shownMembers(template);
  const { id: callerId, name } = ctx.actor;
  const given = listed.find(({ id }) => id === callerId)?.roles ?? [];
  const memberKind = ctx.actor.kind === 'user' ? ('user' as const) : ('identity' as const);
  return {
    template,
    environments:
      template.environments ?? DEFAULT_ENVIRONMENTS.map((environment, at) => ({ ...environment, position: at + 1 })),
    members: [
      { memberKind, name, isCaller: true, roles: [...new Set(['admin', ...given])] },
      ...listed
        .filter(({ id }) => id !== callerId)
        .map(({ kind, id, name: shown, roles }) => ({
          memberKind: kind,
          name: isReadable(ctx, kind, { id, name: shown }) ? shown : null,
          isCaller: false,
          roles,
        })),
      ...(template.projectManagedIdentities ?? []).map((identity) => ({
        memberKind: 'project-identity' as const,
        isCaller: false,
        ...identity,
      })),
    ],
    skipped: await skippedOf(ctx, template),
  };
}

/** Template members that are in the organization, with their current names. */
const shownMembers = ({ users, groups, identities }: TemplateView): (FutureMember & { readonly name: string })[] => [
  ...(users ?? []).map(({ userId, username, roles }) => ({ kind: 'user' as const, id: userId, name: username, roles })),
  ...(groups ?? []).map(({ groupId, groupSlug, roles }) => ({
    kind: 'group' as const,
    id: groupId,
    name: groupSlug,
    roles,
  })),
  ...(identities ?? []).map(({ identityId, identityName, roles }) => ({
    kind: 'identity' as const,
    id: identityId,
    name: identityName,
    roles,
  })),
];

async function skippedOf(ctx: Context, { id, isBuiltIn }: TemplateView): Promise<PreviewedSkip[]> {
  const { organizationId } = ctx;
  const stored = isBuiltIn ? null : await emOf(ctx).findOne(ProjectTemplate, { organizationId, id });
  const named = stored === null ? [] : membersOfTemplate(stored);
  if (named.length === 0) return [];
  const memberships = await findMemberships(ctx, { organizationId, ids: named.map((member) => member.id) });
  const hasEnded = new Map(memberships.map((row) => [row.id, row.hasEnded]));
  return named
    .filter((member) => hasEnded.get(member.id) !== false)
    .map((member) => ({
      memberKind: member.kind,
      memberId: can(ctx.ability, `${subjectOf(member.kind)}:read`) ? member.id : null,
      roles: member.roles,
      reason: hasEnded.get(member.id) === true ? 'ended' : 'gone',
    }));
}
