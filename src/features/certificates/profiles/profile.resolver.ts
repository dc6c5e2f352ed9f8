import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, linked } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { type ProjectRelations, ProjectType } from '../../projects/public.js';
import type { AuthorityRow } from '../authorities/authority.queries.js';
import { readableAuthorities } from '../authorities/authority.relations.js';
import { AuthorityType } from '../authorities/authority.type.js';
import { CreateProfile, ListProfiles, OneProfile, UpdateProfile } from './profile.rules.js';
import type { ProfileService } from './profile.service.js';
import { ProfileConnection, ProfileType } from './profile.type.js';

type Changed = Promise<{ certificateProfile: ProfileType }>;
type Profiles = Promise<CountedConnectionOf<ProfileType>>;

@Resolver(() => ProfileType)
export class ProfileResolver {
  constructor(private readonly service: ProfileService) {}

  @query(ProfileConnection, ListProfiles, 'Certificate profiles of a project, by slug.')
  certificateProfiles(ctx: Context, args: object): Profiles {
    return this.service.list(ctx, args);
  }

  @query(ProfileType, OneProfile, 'A certificate profile, by ID.')
  certificateProfile(ctx: Context, args: object): Promise<ProfileType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    CreateProfile,
    { certificateProfile: [ProfileType, 'The created certificate profile.'] },
    'Creates a certificate profile in a project of type `cert-manager`.',
  )
  async createCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateProfile,
    { certificateProfile: [ProfileType, 'The updated certificate profile.'] },
    'Updates a certificate profile. Issued certificates do not change; renewals follow the updated profile.',
  )
  async updateCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.update(ctx, input) };
  }

  @mutation(
    OneProfile,
    { certificateProfile: [ProfileType, 'The deleted certificate profile.'] },
    'Deletes a certificate profile that has no valid certificates. Expired and revoked certificates keep its slug.',
  )
  async deleteCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.delete(ctx, input) };
  }
}

/** Resources related to profiles. */
@Resolver(() => ProfileType)
export class ProfileAuthorityResolver {
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(relations: ProjectRelations) {
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, relations, ids);
  }

  @nested(
    AuthorityType,
    'The authority that issues certificates of the profile. Null, with PERMISSION_DENIED, if you cannot read it.',
  )
  authority({ authorityId }: ProfileType, ctx: Context): Promise<AuthorityType | null> {
    return linked(ctx, this.#authorities, authorityId);
  }
}

@Resolver(() => ProjectType)
export class ProjectProfilesResolver {
  constructor(private readonly service: ProfileService) {}

  @nested(
    [ProfileType],
    'Certificate profiles of the project, by slug. Null, with PERMISSION_DENIED, if you cannot read them.',
  )
  async certificateProfiles({ access }: ProjectType, ctx: Context): Promise<readonly ProfileType[]> {
    return (await this.service.pageInProject(ctx, access, {})).nodes;
  }

  @nested(ProfileConnection, 'Certificate profiles of the project, by slug, in pages.')
  certificateProfileConnection({ access }: ProjectType, ctx: Context, page: object): Profiles {
    return this.service.pageInProject(ctx, access, page);
  }
}
