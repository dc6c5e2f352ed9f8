import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { ListReencryptions, OneReencryption, StartReencryption } from './project-reencryption.rules.js';
import type { ReencryptionService } from './project-reencryption.service.js';
import { ReencryptionConnection, ReencryptionType } from './project-reencryption.type.js';

interface Changed {
  readonly reencryption: ReencryptionType;
}

@Resolver(() => ReencryptionType)
export class ReencryptionResolver {
  constructor(private readonly service: ReencryptionService) {}

  @query(ReencryptionConnection, ListReencryptions, 'Lists the re-encryptions of a project, newest first.')
  projectReencryptions(ctx: Context, args: object): Promise<ConnectionOf<ReencryptionType>> {
    return this.service.list(ctx, args);
  }

  @query(ReencryptionType, OneReencryption, 'Returns a re-encryption of a project by its ID, with its progress.')
  projectReencryption(ctx: Context, args: object): Promise<ReencryptionType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    StartReencryption,
    { reencryption: [ReencryptionType, 'The started re-encryption.'] },
    'Gives a project a new key. New values get it at once; a job encrypts all others with it, those of the history too, and destroys the former keys. You need permission to edit keys of the organization and the project.',
  )
  async startProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.start(ctx, input) };
  }

  @mutation(
    OneReencryption,
    { reencryption: [ReencryptionType, 'The paused re-encryption.'] },
    'Pauses a re-encryption. All values can be read and written as before.',
  )
  async pauseProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.change(ctx, input, 'pause') };
  }

  @mutation(
    OneReencryption,
    { reencryption: [ReencryptionType, 'The resumed re-encryption.'] },
    'Resumes a paused re-encryption. It does what is left.',
  )
  async resumeProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.change(ctx, input, 'resume') };
  }

  @mutation(
    OneReencryption,
    { reencryption: [ReencryptionType, 'The cancelled re-encryption.'] },
    'Cancels a re-encryption. No key is destroyed, and what was encrypted anew stays so.',
  )
  async cancelProjectReencryption(ctx: Context, input: object): Promise<Changed> {
    return { reencryption: await this.service.change(ctx, input, 'cancel') };
  }
}
