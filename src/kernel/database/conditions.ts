/** Conditions in SQL, each by the name of its parameter. */
type Conditions = Readonly<Record<string, string>>;

/** Options of a statement that leaves out the conditions without a value: for `sqlVariants`. */
export const optionsOf = <C extends Conditions>(conditions: C) =>
  Object.fromEntries<readonly boolean[]>(Object.keys(conditions).map((name) => [name, [false, true]])) as {
    readonly [Name in keyof C]: readonly boolean[];
  };

/** Which of the conditions have a value. Null and empty lists are none. */
export const presentConditions = <C extends Conditions>(
  conditions: C,
  params: { readonly [Name in keyof C]: unknown },
) =>
  Object.fromEntries(
    Object.keys(conditions).map((name) => {
      const value = params[name];
      return [name, Array.isArray(value) ? value.length > 0 : value !== null];
    }),
  ) as { readonly [Name in keyof C]: boolean };

/** The chosen conditions, in their order. */
export const conditionsNamed = <C extends Conditions>(
  conditions: C,
  choice: { readonly [Name in keyof C]: boolean },
): string[] => Object.entries(conditions).flatMap(([name, text]) => (choice[name] === true ? [text] : []));
