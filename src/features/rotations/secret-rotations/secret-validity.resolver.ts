import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, linked } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { SecretType } from '../../secrets/public.js';
import type { Kinds } from './kinds/kinds.js';
import { SecretRotation } from './store/rotation.entity.js';
import { validUntil } from './store/timing.js';

/** How long values of secrets stay valid. Visible to everyone who can see the secret. */
@Resolver(() => SecretType)
export class SecretValidityResolver {
  constructor(private readonly kinds: Kinds) {}

  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Until when the value stays valid, unless somebody rotates it manually: the next rotation, or the one after that where credentials overlap. Null for secrets without automatic rotation.',
  })
  validAtLeastUntil(
    @Root() { rotationId }: { readonly rotationId: string | null },
    @Ctx() ctx: Context,
  ): Promise<Date | null> {
    return linked(ctx, this.#validity, rotationId);
  }

  /** All secrets of a response share one statement. */
  readonly #validity: BatchLoad<Date> = async (ctx, ids) => {
    const rotations = await emOf(ctx).find(SecretRotation, { id: { $in: ids } });
    return new Map(
      rotations.flatMap((rotation): [string, Date][] => {
        const until = validUntil(rotation, this.kinds.of(rotation.type));
        return until === null ? [] : [[rotation.id, until]];
      }),
    );
  };
}
