import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';

type Translate = (value: unknown) => unknown;

/**
 * Checks the names in a value against an input type, not its leaves: the value may be a sample.
 *
 * @throws Error for a field that the type does not have, and for a required one that is not there
 */
export function checkInputNames(type: GraphQLInputType, sample: unknown, path: string): void {
  const named = isNonNullType(type) ? type.ofType : type;
  if (typeof sample !== 'object' || sample === null) return;
  if (isListType(named)) {
    if (Array.isArray(sample)) for (const item of sample) checkInputNames(named.ofType, item, path);
    return;
  }
  if (!isInputObjectType(named)) return;
  const fields = named.getFields();
  const unknown = Object.keys(sample).filter((name) => !(name in fields));
  const missing = Object.values(fields).filter((field) => isRequiredInputField(field) && !(field.name in sample));
  if (unknown.length > 0) throw new Error(`${path} has no field ${unknown.join(', ')}`);
  if (missing.length > 0) throw new Error(`${path} lacks ${missing.map(({ name }) => name).join(', ')}`);
  for (const [name, value] of Object.entries(sample))
    checkInputNames((fields[name] as { type: GraphQLInputType }).type, value, `${path}.${name}`);
}

/**
 * Puts names of enum values (`SECRET_MANAGER`) where a value has what they stand for (`secret-manager`), at any depth.
 *
 * @returns null for a type without enums: there is nothing to do
 */
export function enumTranslator(type: GraphQLInputType, above: readonly unknown[] = []): Translate | null {
  const named = getNamedType(type);
  if (isEnumType(named)) {
    const names = new Map(named.getValues().map(({ name, value }) => [value as unknown, name]));
    return each((value) => names.get(value) ?? value);
  }
  if (!isInputObjectType(named) || above.includes(named)) return null;
  const fields = Object.values(named.getFields()).flatMap((field) => {
    const translate = enumTranslator(field.type, [...above, named]);
    return translate === null ? [] : [[field.name, translate] as const];
  });
  if (fields.length === 0) return null;
  return each((value) => {
    const copy = { ...(value as Record<string, unknown>) };
    for (const [name, translate] of fields) if (name in copy) copy[name] = translate(copy[name]);
    return copy;
  });
}

const each =
  (translate: Translate): Translate =>
  (value) => {
    if (value === null || value === undefined) return value;
    return Array.isArray(value) ? value.map(each(translate)) : translate(value);
  };
