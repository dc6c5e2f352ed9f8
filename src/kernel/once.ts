/** A function that makes its value when it is first called, and returns the same one from then on. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** An object whose properties are made when they are first read. */
export function lazily<T extends object>(makers: { readonly [Name in keyof T]: () => T[Name] }): T {
  const made = {} as T;
  for (const [name, make] of Object.entries(makers) as [keyof T, () => T[keyof T]][])
    Object.defineProperty(made, name, { get: once(make), enumerable: true });
  return made;
}
