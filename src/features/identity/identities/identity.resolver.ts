import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import {
  CreateIdentity,
  ListIdentities,
  ListProjectIdentities,
  OneIdentity,
  UpdateIdentity,
} from './identity.rules.js';
import type { IdentityService } from './identity.service.js';
import { IdentityConnection, IdentityType } from './identity.type.js';

@Resolver(() => IdentityType)
export class IdentityResolver {
  constructor(private readonly service: IdentityService) {}

  @query(IdentityType, OneIdentity, 'Returns a machine identity of your organization.')
  identity(ctx: Context, args: object): Promise<IdentityType> {
    return this.service.get(ctx, args);
  }

  @query(IdentityConnection, ListIdentities, 'Lists the machine identities of your organization, by name.')
  identities(ctx: Context, args: object): Promise<CountedConnectionOf<IdentityType>> {
    return this.service.list(ctx, args);
  }

  @query(IdentityConnection, ListProjectIdentities, 'Lists the machine identities that a project owns, by name.')
  projectIdentities(ctx: Context, args: object): Promise<CountedConnectionOf<IdentityType>> {
    return this.service.listOfProject(ctx, args);
  }

  @mutation(
    CreateIdentity,
    { identity: [IdentityType, 'The created identity.'] },
    'Creates a machine identity. Attach token or universal authentication to it, so that it can get access tokens.',
  )
  async createIdentity(ctx: Context, input: object): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateIdentity,
    { identity: [IdentityType, 'The updated identity.'] },
    'Changes the name, role, metadata or delete protection of a machine identity.',
  )
  async updateIdentity(ctx: Context, input: object): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.update(ctx, input) };
  }

  @mutation(
    OneIdentity,
    { identity: [IdentityType, 'The deleted identity.'] },
    'Deletes a machine identity with all memberships and tokens. Refused while it has delete protection.',
  )
  async deleteIdentity(ctx: Context, input: object): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.delete(ctx, input) };
  }
}
