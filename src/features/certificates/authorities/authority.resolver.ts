import { X509Certificate } from 'node:crypto';
import { FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, linked } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted, pageOf } from '../../../kernel/paging.js';
import { type ProjectLinks, ProjectType } from '../../projects/public.js';
import { nameConstraintsOf } from '../x509/name-constraints.js';
import { readableAuthorities } from './authority.links.js';
import { type AuthorityRow, byName } from './authority.queries.js';
import {
  ActivateAuthority,
  CreateAuthority,
  ListAuthorities,
  OneAuthority,
  RevokeAuthority,
  UpdateAuthority,
} from './authority.rules.js';
import type { AuthorityService } from './authority.service.js';
import { AuthorityConnection, AuthorityType } from './authority.type.js';
import { NameConstraintsType } from './name-constraints.type.js';

@Resolver(() => AuthorityType)
export class AuthorityResolver {
  constructor(private readonly service: AuthorityService) {}

  @query(AuthorityConnection, ListAuthorities, 'Certificate authorities of a project, by name.')
  certificateAuthorities(ctx: Context, args: object): Promise<CountedConnectionOf<AuthorityType>> {
    return this.service.list(ctx, args);
  }

  @query(AuthorityType, OneAuthority, 'One certificate authority by its id.')
  certificateAuthority(ctx: Context, args: object): Promise<AuthorityType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    CreateAuthority,
    { certificateAuthority: [AuthorityType, 'The new authority.'] },
    'Makes a certificate authority with a new key in a project of the type `cert-manager`.',
  )
  async createCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.create(ctx, input) };
  }

  @mutation(
    ActivateAuthority,
    { certificateAuthority: [AuthorityType, 'The authority, which is active now.'] },
    'Gives a pending certificate authority the certificate that an outside authority has made from its request.',
  )
  async activateCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.activate(ctx, input) };
  }

  @mutation(
    UpdateAuthority,
    { certificateAuthority: [AuthorityType, 'The authority as it is now.'] },
    'Renames a certificate authority, disables it, or enables it again.',
  )
  async updateCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.update(ctx, input) };
  }

  @mutation(
    RevokeAuthority,
    { certificateAuthority: [AuthorityType, 'The authority, which is disabled now.'] },
    'Revokes the certificate of an authority that another one of the project has issued, for ever. It issues nothing any more.',
  )
  async revokeCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.revoke(ctx, input) };
  }

  @mutation(
    OneAuthority,
    { certificateAuthority: [AuthorityType, 'The deleted authority.'] },
    'Deletes a certificate authority with its key. It can have neither authorities below it nor certificates.',
  )
  async deleteCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.delete(ctx, input) };
  }
}

/** What only the certificate of an authority holds. */
@Resolver(() => AuthorityType)
export class AuthorityContentResolver {
  @FieldResolver(() => NameConstraintsType, {
    nullable: true,
    description: 'Of which names certificates below it may be, as its own certificate says; null for any.',
  })
  nameConstraints(@Root() { certificate }: AuthorityType): NameConstraintsType | null {
    return certificate === null ? null : nameConstraintsOf(new X509Certificate(certificate));
  }
}

/** What authorities lead to. */
@Resolver(() => AuthorityType)
export class AuthorityParentResolver {
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(links: ProjectLinks) {
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, links, ids);
  }

  @nested(AuthorityType, 'The authority of the project that signed its certificate; null for none.')
  parent({ parentId }: AuthorityType, ctx: Context): Promise<AuthorityType | null> {
    return linked(ctx, this.#authorities, parentId);
  }
}

@Resolver(() => ProjectType)
export class ProjectAuthoritiesResolver {
  constructor(private readonly service: AuthorityService) {}

  @nested(
    [AuthorityType],
    'Its certificate authorities, by name; null with PERMISSION_DENIED if you may not read them.',
  )
  certificateAuthorities({ access }: ProjectType, ctx: Context): Promise<readonly AuthorityType[]> {
    return this.service.listInProject(ctx, access);
  }

  @nested(AuthorityConnection, 'As `certificateAuthorities`, in pages.')
  async certificateAuthorityConnection(
    project: ProjectType,
    ctx: Context,
    page: object,
  ): Promise<CountedConnectionOf<AuthorityType>> {
    const authorities = await this.service.listInProject(ctx, project.access);
    return counted(pageOf(authorities, page, 1, byName), async () => authorities.length);
  }
}
