import { capitalized } from '../names.js';
import 'reflect-metadata';
import { Arg, ArgsType, type ClassType, Field, Float, ID, InputType, Int } from 'type-graphql';
import * as z from 'zod';
import { DISPLAY_RULES, FOR_REST_ALONE } from '../paging.js';
import { SCALARS } from '../value-rules.js';
import { DateTime } from './date-time.js';
import { objectType } from './object-types.js';

/** What type-graphql calls a type: a scalar, the object of an enum, or a class. */
type TypeValue = ClassType | object;

/** GraphQL types of rules that have a name there: enums, and objects inside of others. */
const NAMED = z.registry<{ readonly type: TypeValue }>();

/** Names of arguments and fields of inputs that `DISPLAY_RULES` has. */
export const DISPLAY_NAMES = new Set<string>();

/** Descriptions of input types, for the arguments that have them. */
const DESCRIPTIONS = new WeakMap<ClassType, string>();

/** Declares which enum of GraphQL a rule is. */
export function enumOfRule(rule: z.ZodEnum, type: object): void {
  NAMED.add(rule, { type });
}

/** Declares which input type a rule is that `inputType` does not make: a choice of objects. */
export function inputOfRule(rule: z.core.$ZodType, type: ClassType): void {
  NAMED.add(rule, { type });
}

/**
 * Makes the GraphQL input type of rules. Fields, descriptions and defaults come from the rules, so that no input is stated twice.
 * An object inside needs an input type of its own before, and an enum `enumOfRule`.
 *
 * @param about description of the type; without it, that of the rules
 * @throws Error for rules without a description, or of a kind that has no type in GraphQL
 */
export function inputType<R extends z.ZodObject>(name: string, rules: R, about?: string): ClassType<z.input<R>> {
  const made = classOf<z.input<R>>(name);
  InputType(name, { description: about ?? described(rules, name) })(made);
  addFields(made, rules);
  NAMED.add(rules, { type: made });
  DESCRIPTIONS.set(made, described(rules, name));
  return made;
}

/** Makes the input type of a mutation: `inputOf('createTag', CreateTag)` is `CreateTagInput`. */
export const inputOf = <R extends z.ZodObject>(mutation: string, rules: R): ClassType<z.input<R>> =>
  inputType(`${capitalized(mutation)}Input`, rules, `Input of \`${mutation}\`.`);

/** Makes the arguments of a query from rules, as `inputType` does the fields of an input: `@Args(() => TagArgs)`. */
export function argsType<R extends z.ZodObject>(rules: R): ClassType<z.input<R>> {
  const made = classOf<z.input<R>>('Arguments');
  ArgsType()(made);
  addFields(made, rules);
  return made;
}

/** The argument `input` of a mutation: `@Input(CreateTagInput) input: object`. */
export const Input = (type: ClassType): ReturnType<typeof Arg> =>
  Arg('input', () => type, { description: DESCRIPTIONS.get(type) as string });

/** The type of a field that is not a scalar: a class, or `[TagType]` for a list. */
export type ObjectTypes = ClassType | readonly [ClassType];

/** What a field of this type holds. */
export type ValueOf<T> = T extends readonly [ClassType<infer Item>]
  ? readonly Item[]
  : T extends ClassType<infer Value>
    ? Value
    : never;

/** Fields of a payload, each with its type and its description: `{ tag: [TagType, 'The created tag.'] }`. */
export type PayloadFields = Readonly<Record<string, readonly [type: ObjectTypes, description: string]>>;

/** What a payload of these fields holds. */
export type PayloadOf<F extends PayloadFields> = { readonly [K in keyof F]: ValueOf<F[K][0]> };

/** Makes the payload type of a mutation: `payloadOf('createTag', fields)` is `CreateTagPayload`. */
export function payloadOf<const F extends PayloadFields>(mutation: string, fields: F): ClassType<PayloadOf<F>> {
  const name = `${capitalized(mutation)}Payload`;
  return objectType(name, `Result of \`${mutation}\`.`, fields) as ClassType<PayloadOf<F>>;
}

/** A class whose name shows in errors. */
const classOf = <T extends object>(name: string): ClassType<T> => ({ [name]: class {} })[name] as ClassType<T>;

function addFields(made: ClassType, { shape }: z.ZodObject): void {
  for (const [name, rule] of Object.entries(shape as Record<string, z.ZodType>)) {
    if (DISPLAY_RULES.has(rule)) DISPLAY_NAMES.add(name);
    const { inner, isOptional, fallback } = unwrapped(rule);
    const type = typeOf(inner, name);
    Field(() => type, {
      description: described(rule, name),
      nullable: isOptional,
      ...(FOR_REST_ALONE.has(rule) ? { deprecationReason: 'Only for the REST API. Use `after`.' } : {}),
      ...(fallback === undefined ? {} : { defaultValue: fallback }),
    })(made.prototype as object, name);
  }
}

interface Unwrapped {
  readonly inner: z.core.$ZodType;
  readonly isOptional: boolean;
  /** Undefined where there is no default. */
  readonly fallback: unknown;
}

/** What is asked for behind `optional`, `nullable`, `default` and what transforms it. */
function unwrapped(rule: z.core.$ZodType): Unwrapped {
  if (rule instanceof z.ZodOptional || rule instanceof z.ZodNullable)
    return { ...unwrapped(rule.def.innerType), isOptional: true };
  if (rule instanceof z.ZodDefault) return { ...unwrapped(rule.def.innerType), fallback: rule.def.defaultValue };
  if (rule instanceof z.ZodPipe) return unwrapped(rule.def.in instanceof z.ZodTransform ? rule.def.out : rule.def.in);
  return { inner: rule, isOptional: false, fallback: undefined };
}

function typeOf(rule: z.core.$ZodType, name: string): TypeValue | [TypeValue] {
  const named = NAMED.get(rule);
  if (named !== undefined) return named.type;
  if (SCALARS.get(rule)?.scalar === 'ID') return ID;
  if (rule instanceof z.ZodString) return String;
  if (rule instanceof z.ZodDate) return DateTime;
  if (rule instanceof z.ZodBoolean) return Boolean;
  if (rule instanceof z.ZodNumber) return rule.isInt ? Int : Float;
  if (rule instanceof z.ZodDate) return DateTime;
  if (rule instanceof z.ZodArray) return [typeOf(rule.def.element, name) as TypeValue];
  throw new Error(`the rule of ${name} has no type in GraphQL`);
}

/** The description of a rule, or of what it wraps. @throws Error without one */
function described(rule: z.core.$ZodType, name: string): string {
  const description = z.globalRegistry.get(rule)?.description;
  if (description !== undefined) return description;
  if (rule instanceof z.ZodOptional || rule instanceof z.ZodNullable || rule instanceof z.ZodDefault)
    return described(rule.def.innerType, name);
  throw new Error(`the rule of ${name} has no description`);
}
