/** An enum of GraphQL with the words of a list: `next-window` is `NEXT_WINDOW`. */
export const enumOf = <Word extends string>(words: readonly Word[]): Record<string, Word> =>
  Object.fromEntries(words.map((word) => [word.toUpperCase().replaceAll('-', '_'), word]));
