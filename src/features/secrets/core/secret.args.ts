import { ArgsType, Field, ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { ListOrderInput } from '../../../kernel/graphql/list-order.js';
import { PageArgs } from '../../../kernel/graphql/page.js';
import type { OrderedRequest } from '../../../kernel/list-order.js';
import { SecretMetadataFilterInput } from './secret.input.js';
import type { OwnValues, SecretKind } from './secret.rules.js';
import { OwnValuesEnum, SecretKindEnum } from './secret.type.js';

const PATH = { description: 'Path of the folder, for example `/` or `/payments/eu`.', defaultValue: '/' } as const;
const VIEW = {
  description: 'Whether to decrypt and return the values. Without it no value is read.',
  defaultValue: true,
} as const;
const EXPAND = {
  description:
    'Whether to replace the references `${KEY}`, `${env.KEY}` and `${env.folder.KEY}` by the values that they name.',
  defaultValue: false,
} as const;
const TAGS = { nullable: true, description: 'Only secrets with at least one of these tags: slugs.' } as const;
const METADATA = { nullable: true, description: 'Only secrets with all of these metadata pairs, at most 10.' } as const;
const FIRST = {
  nullable: true,
  description: 'Maximum number of items to return, 1 to 1,000. Without it all items are returned.',
} as const;
const AFTER = {
  nullable: true,
  description: 'Only items after this cursor, a value of `pageInfo.endCursor`.',
} as const;
const ORDER = {
  nullable: true,
  description:
    'Order of the list. The default is NAME ascending: by path, then key. A personal value follows the shared ' +
    'secret with the same key, and sorts by its own times. A cursor is only valid for the order that it was created ' +
    'with.',
} as const;
const SINCE = {
  nullable: true,
  description: 'Only secrets that changed, or whose personal value changed, at or after this time.',
} as const;
const RECURSIVE = {
  description: 'Whether to include the folders below, up to 20 levels deep.',
  defaultValue: false,
} as const;

/** Arguments of `secrets`. */
@ArgsType()
export class SecretsArgs extends PageArgs {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environment!: string;

  @Field(() => String, PATH)
  secretPath!: string;

  @Field(() => Boolean, RECURSIVE)
  recursive!: boolean;

  @Field(() => Boolean, { description: 'Whether to include secrets that these folders import.', defaultValue: false })
  includeImports!: boolean;

  @Field(() => OwnValuesEnum, {
    description: 'Where the list shows your personal values.',
    defaultValue: OwnValuesEnum.BESIDE,
  })
  ownValues!: OwnValues;

  @Field(() => Boolean, VIEW)
  viewSecretValue!: boolean;

  @Field(() => Boolean, EXPAND)
  expandSecretReferences!: boolean;

  @Field(() => [String], TAGS)
  tagSlugs?: string[] | null;

  @Field(() => [SecretMetadataFilterInput], METADATA)
  metadata?: SecretMetadataFilterInput[] | null;

  @Field(() => ListOrderInput, ORDER)
  orderBy?: OrderedRequest['orderBy'];

  @Field(() => DateTime, SINCE)
  updatedSince?: Date | null;
}

/** Arguments of `Folder.secrets`. */
@ArgsType()
export class FolderSecretsArgs {
  @Field(() => Boolean, VIEW)
  viewSecretValue!: boolean;

  @Field(() => Boolean, EXPAND)
  expandSecretReferences!: boolean;

  @Field(() => [String], TAGS)
  tagSlugs?: string[] | null;

  @Field(() => [SecretMetadataFilterInput], METADATA)
  metadata?: SecretMetadataFilterInput[] | null;
}

/** Arguments of `Folder.secretConnection`. */
@ArgsType()
export class FolderSecretConnectionArgs extends FolderSecretsArgs {
  @Field(() => Int, FIRST)
  first?: number | null;

  @Field(() => String, AFTER)
  after?: string | null;

  @Field(() => ListOrderInput, ORDER)
  orderBy?: OrderedRequest['orderBy'];

  @Field(() => DateTime, SINCE)
  updatedSince?: Date | null;
}

/** Arguments of `Environment.secrets`. */
@ArgsType()
export class EnvironmentSecretsArgs extends FolderSecretsArgs {
  @Field(() => String, {
    nullable: true,
    description: 'Path of the folder, for example `/` or `/payments/eu`; `/` when absent.',
  })
  path?: string | null;

  @Field(() => String, {
    ...PATH,
    deprecationReason: 'Use `path`, as other fields of `Environment` do.',
  })
  secretPath!: string;

  @Field(() => Boolean, RECURSIVE)
  recursive!: boolean;
}

/** Arguments of `Environment.secretConnection`. */
@ArgsType()
export class EnvironmentSecretConnectionArgs extends FolderSecretConnectionArgs {
  @Field(() => String, PATH)
  path!: string;

  @Field(() => Boolean, RECURSIVE)
  recursive!: boolean;
}

/** Arguments of `secret`. */
@ArgsType()
export class SecretArgs {
  @Field(() => ID, { description: 'ID of the secret.' })
  id!: string;

  @Field(() => Boolean, VIEW)
  viewSecretValue!: boolean;

  @Field(() => Boolean, EXPAND)
  expandSecretReferences!: boolean;
}

/** Arguments of `secretByKey`. */
@ArgsType()
export class SecretByKeyArgs {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, for example `prod`.' })
  environment!: string;

  @Field(() => String, PATH)
  secretPath!: string;

  @Field(() => String, { description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretKey!: string;

  @Field(() => SecretKindEnum, {
    description: 'Whether to return the shared secret or your personal value.',
    defaultValue: SecretKindEnum.SHARED,
  })
  type!: SecretKind;

  @Field(() => Boolean, {
    description:
      'Whether to search the imports of the folder if it has no such key: the last import first, each with its own imports.',
    defaultValue: false,
  })
  includeImports!: boolean;

  @Field(() => Boolean, VIEW)
  viewSecretValue!: boolean;

  @Field(() => Boolean, EXPAND)
  expandSecretReferences!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: 'Version of the secret, at its current location. The latest version when absent.',
  })
  version?: number | null;
}
