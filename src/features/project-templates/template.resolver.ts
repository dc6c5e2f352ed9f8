import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { linked } from '../../kernel/database/batched.js';
import { mutation, nested, query } from '../../kernel/graphql/operations.js';
import { type ConnectionOf, type CountedConnectionOf, counted, pageOf } from '../../kernel/paging.js';
import { groupLinkOf } from '../groups/public.js';
import { IdentityType, identitiesByIds, identityLinkOf } from '../identities/public.js';
import { UserType, usersByIds } from '../organizations/public.js';
import { type PermissionInput, withPermissions } from '../permissions/public.js';
import { ProjectType } from '../projects/public.js';
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

/** Permissions as the rules judge them. */
const fromInput = (input: object): object => {
  const { roles, ...rest } = input as { roles?: readonly { permissions: PermissionInput[] }[] | null };
  return roles == null ? input : { ...rest, roles: roles.map((role) => withPermissions(role)) };
};

const BOUNDARY =
  'Without the right to rescue projects, you cannot make it give anybody more rights in projects than before (PERMISSION_BOUNDARY).';

@Resolver(() => TemplateType)
export class TemplateResolver {
  constructor(private readonly service: TemplateService) {}

  @query(
    TemplateConnection,
    ListProjectTemplates,
    'The project templates of your organization: the built-in one of each type, then the others by name.',
  )
  async projectTemplates(ctx: Context, args: object): Promise<CountedConnectionOf<TemplateType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page.show(toTemplateType), totalCount);
  }

  @query(TemplateType, OneProjectTemplate, 'One project template by its id, built-in ones too.')
  async projectTemplate(ctx: Context, args: object): Promise<TemplateType> {
    return toTemplateType(await this.service.get(ctx, args));
  }

  @query(
    PreviewType,
    OneProjectTemplate,
    'What a project would get that you make from this template now, and who would be left out and why.',
  )
  async previewProjectTemplate(ctx: Context, args: object): Promise<PreviewType> {
    return toPreviewType(await this.service.preview(ctx, args));
  }

  @mutation(
    CreateProjectTemplate,
    { projectTemplate: [TemplateType, 'The new template.'] },
    `Makes a project template. Users, groups and identities in it need the right to edit those of the organization. ${BOUNDARY}`,
  )
  async createProjectTemplate(ctx: Context, input: object): Promise<{ projectTemplate: TemplateType }> {
    return { projectTemplate: toTemplateType(await this.service.create(ctx, fromInput(input))) };
  }

  @mutation(
    UpdateProjectTemplate,
    { projectTemplate: [TemplateType, 'The template as it is now.'] },
    `Changes a project template. Projects already made are not touched. ${BOUNDARY} Nor can you give it another name while it gives somebody any.`,
  )
  async updateProjectTemplate(ctx: Context, input: object): Promise<{ projectTemplate: TemplateType }> {
    return { projectTemplate: toTemplateType(await this.service.update(ctx, fromInput(input))) };
  }

  @mutation(
    OneProjectTemplate,
    { projectTemplate: [TemplateType, 'The deleted template.'] },
    'Deletes a project template. Projects made from it stay as they are.',
  )
  async deleteProjectTemplate(ctx: Context, input: object): Promise<{ projectTemplate: TemplateType }> {
    return { projectTemplate: toTemplateType(await this.service.delete(ctx, input)) };
  }

  @nested([TemplateVersionType], 'Its versions, newest first; a built-in template has none.')
  async versions({ id }: TemplateType, ctx: Context): Promise<readonly TemplateVersionType[]> {
    return (await this.service.versionsOf(ctx, { id })).map(toVersionType);
  }

  @nested(TemplateVersionConnection, 'As `versions`, in pages.')
  async versionConnection(
    template: TemplateType,
    ctx: Context,
    page: object,
  ): Promise<ConnectionOf<TemplateVersionType>> {
    return pageOf(await this.versions(template, ctx), page, 1, byVersion);
  }
}

@Resolver(() => TemplateVersionType)
export class VersionLinkResolver {
  constructor(private readonly service: TemplateService) {}

  @nested(TemplateType, 'The template.')
  async projectTemplate({ projectTemplateId }: TemplateVersionType, ctx: Context): Promise<TemplateType | null> {
    const template = await linked(ctx, this.service.byIds, projectTemplateId);
    return template && toTemplateType(template);
  }

  @nested(UserType, 'The user; null for a machine identity, and if you may not read it.')
  user({ userId }: TemplateVersionType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }

  @nested(IdentityType, 'The machine identity; null for a user, and if you may not read it.')
  identity({ identityId }: TemplateVersionType, ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, identityId);
  }
}

@Resolver(() => ProjectType)
export class ProjectOriginResolver {
  constructor(private readonly service: TemplateService) {}

  @nested(
    TemplateVersionType,
    'The version of the project template that it was made from; null without one, if that was deleted, and with PERMISSION_DENIED if you may not read it.',
  )
  async projectTemplateVersion({ id }: ProjectType, ctx: Context): Promise<TemplateVersionType | null> {
    const version = await linked(ctx, this.service.originsOf, id);
    return version && toVersionType(version);
  }
}

@Resolver(() => TemplateUserType)
class TemplateUserLinkResolver {
  @nested(UserType, 'The user; null if you may not read it.')
  user({ userId }: TemplateUserType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, userId);
  }
}

/** Resolvers of those who are named in templates. */
export const memberLinks = (): object[] => [
  new TemplateUserLinkResolver(),
  new (identityLinkOf(TemplateIdentityType))(),
  new (groupLinkOf(TemplateGroupType))(),
];
