import 'reflect-metadata';
import type { GraphQLScalarType } from 'graphql';
import { type ClassType, Field, ObjectType } from 'type-graphql';

declare const HELD: unique symbol;
/** Of a type only: nothing has this property. */
interface TypedAs<T> {
  readonly [HELD]: T;
}

/** A scalar, the object of an enum, or the class of an object type. */
type FieldType =
  | TypedAs<unknown>
  | StringConstructor
  | BooleanConstructor
  | GraphQLScalarType
  | (abstract new (
      ...args: never
    ) => object)
  | Readonly<Record<string, string>>;
/** One that may be declared further down: `() => FolderType`. */
type Late = FieldType | (() => FieldType);
type Value = Late | readonly [Late];

const OR_NULL = Symbol('or null');
interface OrNull<T> {
  readonly [OR_NULL]: T;
}

/** The type of a field that may be null: `[orNull(Int), 'Position. Null if it has none.']`. */
export const orNull = <const T extends Value>(type: T): OrNull<T> => ({ [OR_NULL]: type });

/** A type of GraphQL for a property whose own type says more, or less: `requirements: [typedAs<Requirements>(RequirementsType), '…']`. */
export const typedAs = <T>(type: Value): TypedAs<T> => type as unknown as TypedAs<T>;

const HIDDEN = Symbol('hidden');
interface Hidden<T> {
  readonly [HIDDEN]: T | null;
}

/** What objects carry for resolvers of other fields, and the API does not show: `access: hiddenField<ProjectAccess>()`. */
export const hiddenField = <T>(): Hidden<T> => ({ [HIDDEN]: null });

/**
 * Fields of an object type, each with its type and its description: `{ tags: [[TagType], 'The tags of the secret.'] }`. The third
 * part says why it should not be used any more.
 */
export type Fields = Readonly<
  Record<
    string,
    readonly [type: Value | OrNull<Value>, description: string, deprecationReason?: string] | Hidden<unknown>
  >
>;

/** What a field of this type holds. */
type ValueOf<T> =
  T extends OrNull<infer Inner>
    ? ValueOf<Inner> | null
    : T extends TypedAs<infer Property>
      ? Property
      : T extends readonly [infer Item]
        ? readonly ValueOf<Item>[]
        : T extends StringConstructor
          ? string
          : T extends BooleanConstructor
            ? boolean
            : T extends GraphQLScalarType<infer Scalar, infer _>
              ? Scalar
              : T extends abstract new (
                    ...args: never
                  ) => infer Instance
                ? Instance
                : T extends () => infer Meant
                  ? ValueOf<Meant>
                  : T[keyof T];

/** What an object with these fields holds. */
type ObjectOf<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends Hidden<infer Inner>
    ? Inner
    : F[K] extends readonly [infer T, ...unknown[]]
      ? ValueOf<T>
      : never;
};

/** What both hold, in one list of properties. */
type Both<A, B> = { [K in keyof A | keyof B]: K extends keyof B ? B[K] : K extends keyof A ? A[K] : never };

/**
 * Makes an object type of GraphQL. Its fields show the properties of their names, so that nothing runs for each field; those that need
 * work are in resolvers.
 *
 * @param base the interface that it implements, or the object type whose fields it has as well
 */
export function objectType<const F extends Fields, B extends object = object>(
  name: string,
  description: string | undefined,
  fields: F,
  {
    implements: kind,
    extends: base = kind,
  }: { implements?: abstract new () => B; extends?: abstract new () => B } = {},
): ClassType<Both<B, ObjectOf<F>>> {
  const made = classOf(name, base);
  const options = { description, simpleResolvers: true };
  ObjectType(name, kind === undefined ? options : { ...options, implements: kind })(made);
  for (const [field, declared] of Object.entries<Fields[string]>(fields)) {
    if (HIDDEN in declared) continue;
    const [type, about, deprecationReason] = declared;
    const nullable = OR_NULL in type;
    const shown = nullable ? type[OR_NULL] : type;
    const deprecated = deprecationReason === undefined ? {} : { deprecationReason };
    Field(() => meant(shown), { description: about, nullable, ...deprecated })(made.prototype as object, field);
  }
  return made as ClassType<Both<B, ObjectOf<F>>>;
}

/** A class whose name shows in errors. */
const classOf = (name: string, base: (abstract new () => object) | undefined): ClassType =>
  (base === undefined ? { [name]: class {} } : { [name]: class extends base {} })[name] as ClassType;

/** What type-graphql is told. Only functions without a prototype are no types themselves. */
const meant = (type: Value): FieldType | [FieldType] => (isList(type) ? [named(type[0])] : named(type));
const isList = (type: Value): type is readonly [Late] => Array.isArray(type);
const named = (type: Late): FieldType =>
  typeof type === 'function' && type.prototype === undefined ? (type as () => FieldType)() : (type as FieldType);
