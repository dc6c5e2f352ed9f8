import { type ClassType, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DifferenceEnum, SecretVersionSummaryType, SecretVersionType } from './version.resolver.js';
import type { Difference } from './version.rules.js';
import type { VersionChangesService } from './version-changes.service.js';

/** The field `changes` of versions. Read apart: most who read versions do not ask for it. */
export function versionChanges(service: VersionChangesService): object[] {
  const resolverOf = (type: ClassType<{ readonly version: number }>): object => {
    @Resolver(() => type)
    class ChangesResolver {
      @FieldResolver(() => [DifferenceEnum], {
        nullable: true,
        description:
          'What the write changed; that it changed the value only if you can read it and the one before. Of a restored secret: what differs from the deleted one. Empty for a deletion. Null for the first version, and when the version before is not kept any more, is hidden, or cannot be compared.',
      })
      changes(
        @Root() version: { readonly secretId: string; readonly version: number },
        @Ctx() ctx: Context,
      ): Promise<readonly Difference[] | null> {
        return service.changesOf(ctx, version);
      }
    }
    return new ChangesResolver();
  };
  return [SecretVersionType, SecretVersionSummaryType].map(resolverOf);
}
