import { ArgsType, Field, ID, Int } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { ListOrderInput } from '../../kernel/graphql/list-order.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import type { OrderedRequest } from '../../kernel/list-order.js';
import { SecretMetadataFilterInput } from './secret.input.js';
import type { OwnValues, SecretKind } from './secret.rules.js';
import { OwnValuesEnum, SecretKindEnum } from './secret.type.js';

const PATH = { description: 'Path of the folder, as `/` or `/payments/eu`.', defaultValue: '/' } as const;
const VIEW = { description: 'Open the values; without it none is even read.', defaultValue: true } as const;
const EXPAND = {
  description: 'Put the values that `${KEY}`, `${env.KEY}` and `${env.folder.KEY}` name in their places.',
  defaultValue: false,
} as const;
const TAGS = { nullable: true, description: 'Only secrets with any of these tags.' } as const;
const METADATA = { nullable: true, description: 'Only secrets with all of these pairs, at most 10.' } as const;
const FIRST = {
  nullable: true,
  description: 'At most this many rows, 1 to 1,000. Without it the list is whole.',
} as const;
const AFTER = { nullable: true, description: 'Only rows after this cursor, as `pageInfo.endCursor` gave it.' } as const;
const ORDER = {
  nullable: true,
  description:
    'The order; by default NAME ascending: by path, then key. Your own value of a secret follows the shared one and is ordered by its times. A cursor is valid only for the order that it was made with.',
} as const;
const SINCE = {
  nullable: true,
  description: 'Only secrets that were changed, or whose value of your own was changed, at this time or later.',
} as const;
const RECURSIVE = { description: 'List the folders below too, 20 levels deep.', defaultValue: false } as const;

/** Arguments of `secrets`. */
@ArgsType()
export class SecretsArgs extends PageArgs {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, PATH)
  secretPath!: string;

  @Field(() => Boolean, RECURSIVE)
  recursive!: boolean;

  @Field(() => Boolean, { description: 'List what these folders import too.', defaultValue: false })
  includeImports!: boolean;

  @Field(() => OwnValuesEnum, {
    description: 'Where the values of your own are listed.',
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
    description: 'Path of the folder, as `/` or `/payments/eu`; `/` when absent.',
  })
  path?: string | null;

  @Field(() => String, {
    ...PATH,
    deprecationReason: 'Other fields of an environment say `path`, and so can this one.',
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

  @Field(() => String, { description: 'Slug of the environment, as `prod`.' })
  environment!: string;

  @Field(() => String, PATH)
  secretPath!: string;

  @Field(() => String, { description: 'Its key.' })
  secretKey!: string;

  @Field(() => SecretKindEnum, { description: 'Whose it is.', defaultValue: SecretKindEnum.SHARED })
  type!: SecretKind;

  @Field(() => Boolean, {
    description: 'When the folder has none, look in what it imports: the last import first, each with its own imports.',
    defaultValue: false,
  })
  includeImports!: boolean;

  @Field(() => Boolean, VIEW)
  viewSecretValue!: boolean;

  @Field(() => Boolean, EXPAND)
  expandSecretReferences!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: 'A version of it, in the place where it is now; without it the newest.',
  })
  version?: number | null;
}
