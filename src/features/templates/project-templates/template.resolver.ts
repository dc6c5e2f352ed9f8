import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { type ConnectionOf, type CountedConnectionOf, counted, pageOf } from '../../../kernel/paging.js';
import { IdentityType, identitiesByIds, identityRelationOf } from '../../identity/identities/public.js';
import { UserType, usersByIds } from '../../identity/organizations/public.js';
import { withPermissions } from '../../identity/permissions/public.js';
import { groupRelationOf } from '../../members/groups/public.js';
import { ProjectType } from '../../projects/public.js';
import { byVersion } from './template.queries.js';
import {
  CreateProjectTemplate,
  ListProjectTemplates,
  OneProjectTemplate,
  UpdateProjectTemplate,
} from './template.rules.js';
import type { TemplateService } from './template.service.js';
import {
  TemplateConnection,
  TemplateGroupType,
  TemplateIdentityType,
  TemplateType,
  TemplateUserType,
  TemplateVersionConnection,
  TemplateVersionType,
  toTemplateType,
  toVersionType,
} from './template.type.js';
import { PreviewType, toPreviewType } from './template-preview.type.js';

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

  @mutation(
    CreateProjectTemplate,
    { projectTemplate: [TemplateType, 'The created project template.'] },
    `Creates a project template. To include users, groups or identities, you need the right to edit those of the organization. ${BOUNDARY}`,
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

  @nested([TemplateVersionType], 'Versions of the template, newest first. A built-in template has none.')
  async versions({ id }: TemplateType, ctx: Context): Promise<readonly TemplateVersionType[]> {
    return (await this.service.versionsOf(ctx, { id })).map(toVersionType);
  }

  @nested(TemplateVersionConnection, 'Versions of the template, newest first, in pages.')
  async versionConnection(
    template: TemplateType,
    ctx: Context,
    page: object,
  ): Promise<ConnectionOf<TemplateVersionType>> {
    return pageOf(await this.versions(template, ctx), page, 1, byVersion);
  }
}

@Resolver(() => TemplateVersionType)
export class VersionRelationResolver {
  constructor(private readonly service: TemplateService) {}

  @nested(TemplateType, 'The project template.')
  async projectTemplate({ projectTemplateId }: TemplateVersionType, ctx: Context): Promise<TemplateType | null> {
    const template = await linked(ctx, this.service.byIds, projectTemplateId);
    return template && toTemplateType(template);
  }

  @nested(UserType, 'The user who created the version. Null for a machine identity, and if you cannot read the user.')
  user({ userId }: TemplateVersionType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }

  @nested(
    IdentityType,
    'The machine identity that created the version. Null for a user, and if you cannot read the identity.',
  )
  identity({ identityId }: TemplateVersionType, ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, identityId);
  }
}

@Resolver(() => ProjectType)
export class ProjectOriginResolver {
  constructor(private readonly service: TemplateService) {}

  @nested(
    TemplateVersionType,
    'Version of the project template that the project was created from. Null if there is none or it was deleted, and, with PERMISSION_DENIED, if you cannot read it.',
  )
  async projectTemplateVersion({ id }: ProjectType, ctx: Context): Promise<TemplateVersionType | null> {
    const version = await linked(ctx, this.service.originsOf, id);
    return version && toVersionType(version);
  }
}

@Resolver(() => TemplateUserType)
class TemplateUserRelationResolver {
  @nested(UserType, 'The user. Null if you cannot read it.')
  user({ userId }: TemplateUserType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }
}

/** Resolvers of members of templates. */
export const memberRelations = (): object[] => [
  new TemplateUserRelationResolver(),
  identityRelationOf(TemplateIdentityType),
  groupRelationOf(TemplateGroupType),
];
