import { ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { OrganizationKey } from '../../../kernel/crypto/keys.entity.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import {
  CreateOrganizationKey,
  ListOrganizationKeys,
  OneOrganizationKey,
  SetProjectKey,
} from './organization-key.rules.js';
import type { OrganizationKeyService } from './organization-key.service.js';

/** A key as the API shows it: never its material. */
export const OrganizationKeyType = objectType(
  'OrganizationKey',
  'A key of an organization. It encrypts the keys of projects, which encrypt their values.',
  {
    organizationId: [ID, 'ID of the organization.'],
    name: [String, 'Name of the key, unique in the organization.'],
    description: [orNull(String), 'Description of the key. Null if it has none.'],
    isDefault: [
      Boolean,
      'Whether projects have this key by default. It also encrypts values of the organization itself and cannot be disabled.',
    ],
    version: [Int, 'Version of the key. Increments with every rotation.'],
    disabledAt: [orNull(DateTime), 'When the key was disabled. Null while it is enabled.'],
    createdAt: [DateTime, 'When the key was created.'],
    updatedAt: [DateTime, 'When the key was last changed.'],
  },
  { implements: Node },
);
export type OrganizationKeyType = InstanceType<typeof OrganizationKeyType>;

const OrganizationKeyConnection = connectionOf(OrganizationKeyType, 'OrganizationKey', 'name');

@Resolver(() => OrganizationKeyType)
export class OrganizationKeyResolver {
  constructor(private readonly service: OrganizationKeyService) {}

  @query(OrganizationKeyConnection, ListOrganizationKeys, 'Lists the keys of your organization, by name.')
  async organizationKeys(ctx: Context, args: object): Promise<CountedConnectionOf<OrganizationKeyType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page, totalCount);
  }

  @query(OrganizationKeyType, OneOrganizationKey, 'Returns a key of your organization by its ID.')
  organizationKey(ctx: Context, args: object): Promise<OrganizationKeyType> {
    return this.service.get(ctx, args);
  }

  @creation(
    CreateOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The created key.'] },
    'Creates a key in your organization. New projects can name it, and existing ones change to it.',
    {
      find: (keys: OrganizationKeyResolver, ctx, { name }) =>
        oneNamed(ctx, OrganizationKey, { organizationId: ctx.organizationId, name }, (id) =>
          keys.organizationKey(ctx, { id }),
        ),
      taken: 'KEY_NAME_TAKEN',
      compare: {},
    },
  )
  async createOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.create(ctx, input) };
  }

  @mutation(
    OneOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The rotated key.'] },
    'Makes a new version of a key and encrypts the keys of all its projects with it. Values of secrets are not touched.',
  )
  async rotateOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.rotate(ctx, input) };
  }

  @mutation(
    OneOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The disabled key.'] },
    'Disables a key. Values of its projects can be neither read nor written, on any node, until it is enabled: the error is KEY_DISABLED.',
  )
  async disableOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.disable(ctx, input) };
  }

  @mutation(
    OneOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The enabled key.'] },
    'Enables a key. Values of its projects can be read and written again.',
  )
  async enableOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.enable(ctx, input) };
  }

  @mutation(
    SetProjectKey,
    { organizationKey: [OrganizationKeyType, 'The key of the project from now on.'] },
    'Changes the organization key of a project. Values of its secrets are not touched. You need permission to edit keys of the organization and the project.',
  )
  async setProjectKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.setForProject(ctx, input) };
  }
}

const keys = routesAt('/api/v1/organization/keys');
const ofProject = routesAt('/api/v1/projects/{projectId}/key', { errors: ['PROJECT_NOT_FOUND'] });
const errors = ['KEY_NOT_FOUND'] as const;

/** Keys of the organization of the token. */
export const organizationKeyRoutes = [
  keys.post('', 'Create a key of the organization', {
    field: 'createOrganizationKey',
    body: CreateOrganizationKey,
    example: { name: 'payments', description: 'Projects of the payments team' },
    errors: ['KEY_NAME_TAKEN'],
  }),
  keys.get('', 'List the keys of the organization', { field: 'organizationKeys' }),
  keys.get('/{keyId}', 'Get a key of the organization', { field: 'organizationKey', errors }),
  keys.post('/{keyId}/rotate', 'Rotate a key of the organization', { field: 'rotateOrganizationKey', errors }),
  keys.post('/{keyId}/disable', 'Disable a key of the organization', {
    field: 'disableOrganizationKey',
    errors: [...errors, 'DEFAULT_KEY'],
  }),
  keys.post('/{keyId}/enable', 'Enable a key of the organization', { field: 'enableOrganizationKey', errors }),
  ofProject.patch('', 'Change the key of a project', {
    field: 'setProjectKey',
    body: bodyOf(SetProjectKey, 'projectId'),
    example: { organizationKeyId: '5f0d5c0a-8f0e-4f6e-9a54-2b1f9c3de001' },
    errors: [...errors, 'KEY_DISABLED'],
  }),
];
