import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import { type CountedConnectionOf, counted, pageOf } from '../../../kernel/paging.js';
import { accountRelations, identityRelationOf } from '../../identity/identities/public.js';
import { organizationRelationOf, UserType, usersByIds } from '../../identity/organizations/public.js';
import { shownRulesText, toShownRules, withPermissions } from '../../identity/permissions/public.js';
import { groupRelationOf } from '../../members/groups/public.js';
import { ProjectType } from '../../projects/public.js';
import { ProjectTemplate } from './template.entity.js';
import { byVersion } from './template.queries.js';
import {
  CreateProjectTemplate,
  ListProjectTemplates,
  OneProjectTemplate,
  UpdateProjectTemplate,
} from './template.rules.js';
import type { TemplateService } from './template.service.js';
import {
  PreviewType,
  TemplateConnection,
  TemplateGroupType,
  TemplateIdentityType,
  TemplateType,
  TemplateUserType,
  TemplateVersionConnection,
  TemplateVersionType,
  toPreviewType,
  toTemplateType,
  toVersionType,
} from './template.type.js';
import { inOrder, rolesIn } from './template-members.js';

/** Converts GraphQL permissions to the form of the rules. */
const fromInput = (input: object): object => {
  const { roles, ...rest } = input as { roles?: readonly object[] | null };
  return roles == null ? input : { ...rest, roles: roles.map(withPermissions) };
};

const BOUNDARY =
  'Without the right to rescue projects, you cannot grant more project permissions than the template granted before (PERMISSION_BOUNDARY).';

@Resolver(() => TemplateType)
export class TemplateResolver {
  constructor(private readonly service: TemplateService) {}

  @query(
    TemplateConnection,
    ListProjectTemplates,
    'Project templates of your organization: the built-in one of each type, then the others by name.',
  )
  async projectTemplates(ctx: Context, args: object): Promise<CountedConnectionOf<TemplateType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page.show(toTemplateType), totalCount);
  }

  @query(TemplateType, OneProjectTemplate, 'A project template, built-in or custom, by ID.')
  async projectTemplate(ctx: Context, args: object): Promise<TemplateType> {
    return toTemplateType(await this.service.get(ctx, args));
  }

  @query(
    PreviewType,
    OneProjectTemplate,
    'Preview of a project that you would create from this template now: its environments, roles and members, and who would be skipped.',
  )
  async previewProjectTemplate(ctx: Context, args: object): Promise<PreviewType> {
    return toPreviewType(await this.service.preview(ctx, args));
  }

  @creation(
    CreateProjectTemplate,
    { projectTemplate: [TemplateType, 'The created project template.'] },
    `Creates a project template. To include users, groups or identities, you need the right to edit those of the organization. ${BOUNDARY}`,
    {
      find: (templates: TemplateResolver, ctx, { name }) =>
        oneNamed(ctx, ProjectTemplate, { organizationId: ctx.organizationId, name }, (id) =>
          templates.projectTemplate(ctx, { id }),
        ),
      taken: 'PROJECT_TEMPLATE_NAME_TAKEN',
      toRules: fromInput,
      compare: {
        roles: {
          of: ({ roles }) =>
            shownRulesText(
              roles.flatMap(({ isBuiltIn, slug, name, rules }) => (isBuiltIn ? [] : [{ slug, name, rules }])),
            ),
          as: (roles: Parameters<typeof rolesIn>[0]) =>
            shownRulesText(rolesIn(roles).map(({ rules, ...role }) => ({ ...role, rules: toShownRules(rules) }))),
        },
        environments: { of: ({ environments }) => environments, as: inOrder },
      },
    },
  )
  async createProjectTemplate(ctx: Context, input: object): Promise<{ projectTemplate: TemplateType }> {
    return { projectTemplate: toTemplateType(await this.service.create(ctx, fromInput(input))) };
  }

  @mutation(
    UpdateProjectTemplate,
    { projectTemplate: [TemplateType, 'The updated project template.'] },
    `Updates a project template. Existing projects do not change. ${BOUNDARY} Without that right, you cannot rename a template that grants permissions either.`,
  )
  async updateProjectTemplate(ctx: Context, input: object): Promise<{ projectTemplate: TemplateType }> {
    return { projectTemplate: toTemplateType(await this.service.update(ctx, fromInput(input))) };
  }

  @mutation(
    OneProjectTemplate,
    { projectTemplate: [TemplateType, 'The deleted project template.'] },
    'Deletes a project template. Projects created from it do not change.',
  )
  async deleteProjectTemplate(ctx: Context, input: object): Promise<{ projectTemplate: TemplateType }> {
    return { projectTemplate: toTemplateType(await this.service.delete(ctx, input)) };
  }

  @nested(TemplateVersionConnection, 'Versions of the template, newest first. A built-in template has none.')
  async versions({ id }: TemplateType, ctx: Context, page: object): Promise<CountedConnectionOf<TemplateVersionType>> {
    return pageOf((await this.service.versionsOf(ctx, { id })).map(toVersionType), page, 1, byVersion);
  }
}

/** What templates and their members lead to, and what leads to templates. */
export const templateRelations = (service: TemplateService): object[] => [
  organizationRelationOf(TemplateType),
  relations(TemplateVersionType, {
    projectTemplate: relationTo(
      TemplateType,
      'The project template.',
      service.byIds,
      ({ projectTemplateId }) => projectTemplateId,
      toTemplateType,
    ),
    ...accountRelations<TemplateVersionType>(
      'The user who created the version. Null for a machine identity, and if you cannot read the user.',
      'The machine identity that created the version. Null for a user, and if you cannot read the identity.',
      (ids) => ids,
    ),
  }),
  relations(ProjectType, {
    projectTemplateVersion: relationTo(
      TemplateVersionType,
      'Version of the project template that the project was created from. Null if there is none or it was deleted, and, with PERMISSION_DENIED, if you cannot read it.',
      service.originsOf,
      ({ id }) => id,
      toVersionType,
    ),
  }),
  relations(TemplateUserType, {
    user: relationTo(UserType, 'The user. Null if you cannot read it.', usersByIds, ({ userId }) => userId),
  }),
  identityRelationOf(TemplateIdentityType),
  groupRelationOf(TemplateGroupType),
];
