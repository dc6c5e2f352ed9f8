import type { ClassType } from 'type-graphql';
import type { z } from 'zod';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import type { RotationKind } from './rotation-kind.js';

/** Rules of the content of a new rotation. All values of the mapping are keys of secrets. */
type ContentRules = z.ZodObject<{
  parameters: z.ZodObject;
  secretsMapping: z.ZodObject;
  temporaryParameters?: z.ZodOptional<z.ZodNullable<z.ZodObject>>;
}>;

/** Rules of changes of the content. */
type ChangeRules = z.ZodObject<{
  parameters: z.ZodOptional<z.ZodObject>;
  secretsMapping: z.ZodOptional<z.ZodObject>;
}>;

/** What REST needs of a type besides its rules. */
interface InRest {
  /** For summaries, for example `a service-token rotation`. */
  readonly title: string;
  /** Selected fields of its parameters. */
  readonly parameters: string;
  /** An example body for the API reference. */
  readonly example: object;
  /** Whether its credentials can be reset with the permissions of the connection. */
  readonly isReset?: true;
  /** Numbers of its routes that are operations of the specification. */
  readonly operations: { readonly [Route in 'get' | 'delete' | 'rotate']?: { readonly operation: number } };
}

/**
 * The declaration of a type of rotations. Rules, GraphQL types and REST routes are made from it. GraphQL names follow from the type:
 * `datatool-service-token` has the type `DatatoolServiceTokenRotation` and the input field `datatoolServiceToken`.
 */
export interface KindDeclaration<Type extends string = string> {
  readonly type: Type;
  /** Description of rotations of the type, in the schema. */
  readonly description: string;
  readonly content: ContentRules;
  readonly change: ChangeRules;
  /** Why an existing credential cannot be adopted, and what to do instead, as the end of a sentence; absent: it can. */
  readonly refusesAdoption?: string;
  /** The GraphQL type of its parameters. */
  readonly parametersType: ClassType;
  /** The plaintext fields of its credentials, all strings: descriptions by name. */
  readonly credential: { readonly description: string; readonly fields: Readonly<Record<string, string>> };
  readonly rest: InRest;
  /** Makes its implementation. @param policy which external systems may be called */
  create(policy: TargetPolicy): RotationKind<Type>;
}

/** `datatool-service-token` -> `datatoolServiceToken`, the input field of a type. */
export const fieldOf = (type: string): string => type.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `datatool-service-token` -> `DatatoolServiceToken`, the prefix of GraphQL type names. */
export const typePrefixOf = (type: string): string => fieldOf(`-${type}`);
