import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, linked } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { type ProjectLinks, ProjectType } from '../../projects/public.js';
import { readableAuthorities } from '../authorities/authority.links.js';
import type { AuthorityRow } from '../authorities/authority.queries.js';
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

  @query(ProfileType, OneProfile, 'One certificate profile by its id.')
  certificateProfile(ctx: Context, args: object): Promise<ProfileType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    CreateProfile,
    { certificateProfile: [ProfileType, 'The new profile.'] },
    'Makes a certificate profile in a project of the type `cert-manager`.',
  )
  async createCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateProfile,
    { certificateProfile: [ProfileType, 'The profile as it is now.'] },
    'Changes a certificate profile. Certificates that were issued by it stay as they are; renewals follow it as it is then.',
  )
  async updateCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.update(ctx, input) };
  }

  @mutation(
    OneProfile,
    { certificateProfile: [ProfileType, 'The deleted profile.'] },
    'Deletes a certificate profile by which no certificate holds any more. Certificates keep its slug.',
  )
  async deleteCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.delete(ctx, input) };
  }
}

/** What profiles lead to. */
@Resolver(() => ProfileType)
export class ProfileAuthorityResolver {
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(links: ProjectLinks) {
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, links, ids);
  }

  @nested(
    AuthorityType,
    'The authority that issues its certificates; null with PERMISSION_DENIED if you may not read it.',
  )
  authority({ authorityId }: ProfileType, ctx: Context): Promise<AuthorityType | null> {
    return linked(ctx, this.#authorities, authorityId);
  }
}

@Resolver(() => ProjectType)
export class ProjectProfilesResolver {
  constructor(private readonly service: ProfileService) {}

  @nested([ProfileType], 'Its certificate profiles, by slug; null with PERMISSION_DENIED if you may not read them.')
  async certificateProfiles({ access }: ProjectType, ctx: Context): Promise<readonly ProfileType[]> {
    return (await this.service.pageInProject(ctx, access, {})).nodes;
  }

  @nested(ProfileConnection, 'As `certificateProfiles`, in pages.')
  certificateProfileConnection({ access }: ProjectType, ctx: Context, page: object): Profiles {
    return this.service.pageInProject(ctx, access, page);
  }
}
