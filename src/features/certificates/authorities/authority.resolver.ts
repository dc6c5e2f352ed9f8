import { X509Certificate } from 'node:crypto';
import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfOwned, linked } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted, pageOf } from '../../../kernel/paging.js';
import { type ProjectLinks, ProjectType } from '../../projects/public.js';
import { nameConstraintsOf } from '../x509/name-constraints.js';
import { readableAuthorities } from './authority.links.js';
import { type AuthorityRow, byName, findSuccessors, listFormerCertificates } from './authority.queries.js';
import {
  ActivateAuthority,
  CreateAuthority,
  ListAuthorities,
  OneAuthority,
  RenewAuthority,
  RevokeAuthority,
  SucceedAuthority,
  UpdateAuthority,
} from './authority.rules.js';
import type { AuthorityService } from './authority.service.js';
import { AuthorityConnection, AuthorityType, FormerCertificateType } from './authority.type.js';
import type { AuthorityRenewalService } from './authority-renewal.service.js';
import { NameConstraintsType } from './name-constraints.type.js';

@Resolver(() => AuthorityType)
export class AuthorityResolver {
  constructor(
    private readonly service: AuthorityService,
    private readonly renewal: AuthorityRenewalService,
  ) {}

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
    { certificateAuthority: [AuthorityType, 'The authority with its certificate.'] },
    'Gives a certificate authority the certificate that an outside authority has made from its request, the first one or a renewal.',
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
    RenewAuthority,
    { certificateAuthority: [AuthorityType, 'The authority, with its new certificate or its new request.'] },
    'Gives a certificate authority a new certificate of the same key, or a request for one to an authority outside.',
  )
  async renewCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.renewal.renew(ctx, input) };
  }

  @mutation(
    SucceedAuthority,
    { certificateAuthority: [AuthorityType, 'The new authority.'] },
    'Makes a certificate authority with a new key that follows another one.',
  )
  async createCertificateAuthoritySuccessor(
    ctx: Context,
    input: object,
  ): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.createSuccessor(ctx, input) };
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

const successors: BatchLoad<string> = async (ctx, ids) =>
  new Map(
    (await findSuccessors(ctx, { ids })).flatMap(({ id, predecessorId }) =>
      predecessorId === null ? [] : [[predecessorId, id] as const],
    ),
  );

const formerCertificates = batchOfOwned(
  (ctx, authorityIds) => listFormerCertificates(ctx, { authorityIds }),
  ({ authorityId }) => authorityId,
);

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

  @FieldResolver(() => ID, { nullable: true, description: 'The authority that follows it; null for none.' })
  async successorId(@Root() { id }: AuthorityType, @Ctx() ctx: Context): Promise<string | null> {
    return (await batched(ctx, successors, id)) ?? null;
  }

  @FieldResolver(() => [FormerCertificateType], {
    description: 'What certificates it had before it was renewed, the newest first.',
  })
  async formerCertificates(
    @Root() { id }: AuthorityType,
    @Ctx() ctx: Context,
  ): Promise<readonly FormerCertificateType[]> {
    return (await batched(ctx, formerCertificates, id)) ?? [];
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
