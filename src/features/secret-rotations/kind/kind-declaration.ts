import type { ClassType } from 'type-graphql';
import type { z } from 'zod';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import type { RotationKind } from './rotation-kind.js';

/** Rules of what a new rotation of a type is about. All values of the mapping are keys of secrets. */
type ContentRules = z.ZodObject<{
  parameters: z.ZodObject;
  secretsMapping: z.ZodObject;
  temporaryParameters: z.ZodOptional<z.ZodNullable<z.ZodObject>>;
}>;

/** Rules of what changes of it. */
type ChangeRules = z.ZodObject<{
  parameters: z.ZodOptional<z.ZodObject>;
  secretsMapping: z.ZodOptional<z.ZodObject>;
}>;

/** What REST has of a type beside its rules. */
interface InRest {
  /** As `a service-token rotation`, in summaries. */
  readonly title: string;
  /** What is selected of its parameters. */
  readonly parameters: string;
  /** A body that creates one, for the API reference. */
  readonly example: object;
  /** Whether its credentials can be reset with the rights of the connection. */
  readonly isReset?: true;
  /** Numbers of its routes that are operations of the interface. */
  readonly operations: { readonly [Route in 'get' | 'delete' | 'rotate']?: { readonly operation: number } };
}

/**
 * All that a type of rotations consists of. Rules, GraphQL types and REST routes are made from it; names in GraphQL are those of the
 * type: `datatool-service-token` has `DatatoolServiceTokenRotation` and the field `datatoolServiceToken` in inputs.
 */
export interface KindDeclaration<Type extends string = string> {
  readonly type: Type;
  /** What rotations of the type do, in the schema. */
  readonly description: string;
  readonly content: ContentRules;
  readonly change: ChangeRules;
  /** Whether temporary parameters are a credential to adopt, and nothing else. */
  readonly isTemporaryAdopted: boolean;
  /** What the API shows of its parameters. */
  readonly parametersType: ClassType;
  /** What the API shows of its credentials, in clear: strings by their names, with their descriptions. */
  readonly credential: { readonly description: string; readonly fields: Readonly<Record<string, string>> };
  readonly rest: InRest;
  /** What carries it out. @param policy which outside systems may be called */
  create(policy: TargetPolicy): RotationKind<Type>;
}

/** `datatool-service-token` -> `datatoolServiceToken`: the field of a type in inputs. */
export const fieldOf = (type: string): string => type.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `datatool-service-token` -> `DatatoolServiceToken`: what names of GraphQL types begin with. */
export const typePrefixOf = (type: string): string => fieldOf(`-${type}`);
